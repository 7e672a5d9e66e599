"""`oncegate import mcp`: the tools of an MCP server as draft manifests."""

import asyncio
import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import click

from gateway.cli.exits import EXIT_HELP, Exit, Failure
from gateway.cli.output import json_option, print_json, print_table

if TYPE_CHECKING:
    from gateway.manifest.importing_mcp import ToolImport, ToolRow
    from gateway.manifest.mcp.drafts import Place

_WORD: Final = re.compile(r"[^A-Z0-9]+")
_OWNER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@/-]{0,127}")
_HEADER: Final = re.compile(r"([A-Za-z0-9!#$%&'*+.^_`|~-]+):[ \t]*(\S.*)")
_URL: Final = re.compile(r"https?://[^\s{}/?#@]+(/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*)?")


@click.command("mcp", epilog=EXIT_HELP)
@click.argument("url", metavar="URL")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the drafts here.  [default: nothing is written]",
)
@click.option("--only", multiple=True, metavar="TOOL", help="Only this tool; may be repeated.")
@click.option("--prefix", metavar="NAME", help="Of ${NAME_URL} and the permissions.  [default: from the host's name]")
@click.option("--owner", default="unassigned", show_default=True, help="The team that will answer for the tools.")
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="'NAME: VALUE'",
    help="Sent to the server and kept in the drafts; a credential as ${secret:NAME}, from the environment.",
)
@json_option
def mcp(
    *,
    url: str,
    out: Path | None,
    only: tuple[str, ...],
    prefix: str | None,
    owner: str,
    headers: tuple[str, ...],
    as_json: bool,
) -> None:
    """Draft a manifest for each tool of an MCP server.

    The server is asked for its tools; none is called. Every draft is a write with the tool's digest pinned, and does not
    load before a person has said what it does: hints of the server decide nothing.

    \b
    oncegate import mcp https://billing.example/mcp
    oncegate import mcp https://billing.example/mcp --header 'Authorization: Bearer ${secret:BILLING}' --out tool_manifests
    """  # noqa: D301 - click's mark for lines that stay lines
    from gateway.adapters.cel.engine import CelEngine  # noqa: PLC0415 - with the others: --help needs none
    from gateway.manifest.importing_mcp import import_mcp  # noqa: PLC0415
    from gateway.manifest.mcp.drafts import DraftError, Place  # noqa: PLC0415

    if not _OWNER.fullmatch(owner):
        raise Failure(f"--owner {owner!r} is no name of a team.", Exit.USAGE)
    if not _URL.fullmatch(url):
        raise Failure(f"{url!r} is no http(s) URL of a server, without a query.", Exit.USAGE)
    parts = urlsplit(url)
    place = Place(
        prefix=_prefix(prefix or (parts.hostname or "").partition(".")[0]),
        owner=owner,
        path=parts.path,
        headers=_headers(headers),
    )
    shown = asyncio.run(_shown(url, place))
    try:
        result = import_mcp(shown, place, CelEngine(), only=only)
    except DraftError as error:
        raise Failure(f"{error}.", Exit.NO) from None
    written = [] if out is None else _write(out, result)
    if as_json:
        print_json(_document(result, written))
    else:
        _print(result)
        if result.drafts:
            _print_next(url, out, place, f"{parts.scheme}://{parts.netloc}")
    if not result.drafts:
        raise click.exceptions.Exit(Exit.NO)


async def _shown(url: str, place: "Place") -> list[Any]:
    """The server's tools, over the transport that will call them."""
    from gateway.adapters.http_tool.egress import EgressPolicy  # noqa: PLC0415 - as above
    from gateway.adapters.http_tool.transport import HttpToolTransport  # noqa: PLC0415
    from gateway.adapters.mcp_tool.http_channel import HttpChannel  # noqa: PLC0415
    from gateway.adapters.mcp_tool.upstream import Upstream  # noqa: PLC0415
    from gateway.adapters.system.clock import SystemClock  # noqa: PLC0415
    from gateway.stages.execute.attempt.exchange import WireRequest  # noqa: PLC0415

    parts, clock = urlsplit(url), SystemClock()
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        raise Failure(f"{url!r} has no port that there is.", Exit.USAGE) from None
    # What the operator names on the command line may be private; nothing else may.
    transport = HttpToolTransport(clock, egress=EgressPolicy((f"{_bracketed(parts.hostname or '')}:{port}",)))
    like = WireRequest(
        method="POST",
        origin=f"{parts.scheme}://{_bracketed(parts.hostname or '')}:{port}",
        target=parts.path or "/",
        secret_headers=tuple((name, _filled(text, os.environ)) for name, text in place.headers.items()),
    )
    upstream = Upstream(HttpChannel(transport, clock, like), clock)
    try:
        found = await upstream.tools()
    finally:
        await upstream.aclose()
        await transport.aclose()
    if not isinstance(found, list):
        raise Failure(f"{url} gave no list of tools: {found.fault} ({found.detail}).", Exit.UNREACHABLE)
    return found


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _prefix(text: str) -> str:
    return _WORD.sub("_", text.upper()).lstrip("_0123456789").rstrip("_") or "MCP"


def _headers(given: tuple[str, ...]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for text in given:
        found = _HEADER.fullmatch(text)
        if found is None:
            raise Failure("--header is written as 'NAME: VALUE'.", Exit.USAGE)
        headers[found[1]] = found[2].strip()
        _filled(found[2], os.environ)
    return headers


def _filled(text: str, environment: Mapping[str, str]) -> str:
    """A header's value, as it is sent.

    Raises:
        Failure: it names a secret that the environment does not have, or is no template.
    """
    from gateway.manifest.placeholders import Reference, TemplateError, fill, parse  # noqa: PLC0415 - as above

    try:
        pieces = parse(text)
        if any(isinstance(piece, Reference) for piece in pieces):
            raise Failure("--header may have nothing of a call in it: nothing is called.", Exit.USAGE)
        return "".join(map(str, fill(pieces, environment, environment)))
    except TemplateError as error:
        raise Failure(f"--header: {error}.", Exit.USAGE) from None


def _write(out: Path, result: "ToolImport") -> list[str]:
    """Write the drafts. What is there already and differs is never overwritten."""
    wanted = {out / name: text.encode() for name, text in result.drafts.items()}
    for path, content in wanted.items():
        if path.exists() and path.read_bytes() != content:
            raise Failure(f"{path} is there already and differs; move it away, or choose another --out.", Exit.USAGE)
    for path, content in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return [str(path) for path in wanted]


def _document(result: "ToolImport", written: list[str]) -> dict[str, object]:
    rows = [
        {"shown": it.shown, "tool": it.tool, "decide": list(it.decide), "reason": it.reason, "notes": list(it.notes)}
        for it in result.rows
    ]
    return {"ok": bool(result.drafts), "tools": rows, "written": written}


def _print(result: "ToolImport") -> None:
    cells = [(it.shown, it.tool or "refused", _remains(it)) for it in result.rows]
    print_table(("TOOL", "DRAFT", "WHAT REMAINS"), cells, "the server shows no tool")
    refused = sum(it.tool is None for it in result.rows)
    click.echo(f"{len(result.rows) - refused} wait for a decision, {refused} refused")


def _remains(row: "ToolRow") -> str:
    if row.reason is not None:
        return row.reason
    notes = (f"{len(row.notes)} not taken over",) if row.notes else ()
    return "; ".join((f"decide: {', '.join(row.decide)}", *notes))


def _print_next(url: str, out: Path | None, place: "Place", origin: str) -> None:
    if out is None:
        click.echo(f"nothing was written; next: oncegate import mcp {shlex.quote(url)} --out tool_manifests", err=True)
        return
    folder = shlex.quote(str(out))
    click.echo(
        f"next: decide what remains in the files of {folder}; set {place.variable}={origin}; then\n"
        f"  oncegate check {folder} --manifest-env {place.variable}",
        err=True,
    )
