"""`oncegate import mcp`: the tools of an MCP server as draft manifests."""

import asyncio
import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import click

from gateway.cli.addresses import refuse_credentials
from gateway.cli.drafts import write_drafts
from gateway.cli.exits import EXIT_HELP, Exit, Failure
from gateway.cli.output import json_option, print_json, print_table

if TYPE_CHECKING:
    from gateway.adapters.mcp_tool.upstream import Upstream
    from gateway.manifest.importing_mcp import ToolImport, ToolRow
    from gateway.manifest.mcp.drafts import Place

_WORD: Final = re.compile(r"[^A-Z0-9]+")
_OWNER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@/-]{0,127}")
_HEADER: Final = re.compile(r"([A-Za-z0-9!#$%&'*+.^_`|~-]+):[ \t]*(\S.*)")
_VARIABLE: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)")
_CREDENTIAL: Final = "Give the credential it wants: --header 'Authorization: Bearer ${secret:NAME}', with NAME set."
_URL: Final = re.compile(r"https?://[^\s{}/?#@]+(/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*)?")


@click.command("mcp", epilog=EXIT_HELP)
@click.argument("url", metavar="[URL]", required=False)
@click.option("--stdio", metavar="COMMAND", help="In place of URL: the server is this program, with its arguments.")
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
@click.option("--env", multiple=True, metavar="NAME=VALUE", help="With --stdio: of its environment, as --header.")
@json_option
def mcp(
    *,
    url: str | None,
    stdio: str | None,
    out: Path | None,
    only: tuple[str, ...],
    prefix: str | None,
    owner: str,
    headers: tuple[str, ...],
    env: tuple[str, ...],
    as_json: bool,
) -> None:
    """Draft a manifest for each tool of an MCP server.

    The server is asked for its tools; none is called. Every draft is a write with the tool's digest pinned, and does not
    load before a person has said what it does: hints of the server decide nothing.

    \b
    oncegate import mcp https://billing.example/mcp
    oncegate import mcp --stdio 'billing-server --readonly' --env 'TOKEN=${secret:BILLING}'
    oncegate import mcp https://billing.example/mcp --header 'Authorization: Bearer ${secret:BILLING}' --out tool_manifests
    """  # noqa: D301 - click's mark for lines that stay lines
    from gateway.adapters.cel.engine import CelEngine  # noqa: PLC0415 - with the others: --help needs none
    from gateway.manifest.importing_mcp import import_mcp  # noqa: PLC0415
    from gateway.manifest.mcp.drafts import DraftError  # noqa: PLC0415

    if not _OWNER.fullmatch(owner):
        raise Failure(f"--owner {owner!r} is no name of a team.", Exit.USAGE)
    if (url is None) is (stdio is None):
        raise Failure("say where the server is: its URL, or --stdio and its program.", Exit.USAGE)
    place = _at_url(url, prefix, owner, headers) if url is not None else _in_process(stdio or "", prefix, owner, env)
    shown = asyncio.run(_shown(url, place))
    try:
        result = import_mcp(shown, place, CelEngine(), only=only)
    except DraftError as error:
        raise Failure(f"{error}.", Exit.NO) from None
    written = [] if out is None else write_drafts({out / name: text.encode() for name, text in result.drafts.items()})
    if as_json:
        print_json(_document(result, written))
    else:
        _print(result)
        if result.drafts:
            _print_next(url, out, place)
    if not result.drafts:
        raise click.exceptions.Exit(Exit.NO)


def _at_url(url: str, prefix: str | None, owner: str, headers: tuple[str, ...]) -> "Place":
    from gateway.manifest.mcp.drafts import Place  # noqa: PLC0415 - as above

    refuse_credentials("the server's URL", url)
    if not _URL.fullmatch(url):
        raise Failure(f"{url!r} is no http(s) URL of a server, without a query.", Exit.USAGE)
    parts = urlsplit(url)
    word = _prefix(prefix or (parts.hostname or "").partition(".")[0])
    return Place(prefix=word, owner=owner, path=parts.path, headers=_named(headers, _HEADER, "--header 'NAME: VALUE'"))


def _in_process(stdio: str, prefix: str | None, owner: str, env: tuple[str, ...]) -> "Place":
    from gateway.manifest.mcp.drafts import Place  # noqa: PLC0415 - as above

    try:
        command = tuple(shlex.split(stdio))
    except ValueError:
        command = ()
    if not command:
        raise Failure("--stdio names no program.", Exit.USAGE)
    word = _prefix(prefix or Path(command[0]).name.partition(".")[0])
    return Place(prefix=word, owner=owner, command=command, env=_named(env, _VARIABLE, "--env NAME=VALUE"))


async def _shown(url: str | None, place: "Place") -> list[Any]:
    """The server's tools, over the transport that will call them."""
    from gateway.adapters.http_tool.egress import EgressPolicy  # noqa: PLC0415 - as above
    from gateway.adapters.http_tool.transport import HttpToolTransport  # noqa: PLC0415
    from gateway.adapters.mcp_tool.http_channel import HttpChannel  # noqa: PLC0415
    from gateway.adapters.mcp_tool.process_channel import ProcessChannel  # noqa: PLC0415
    from gateway.adapters.mcp_tool.upstream import Upstream  # noqa: PLC0415
    from gateway.adapters.system.clock import SystemClock  # noqa: PLC0415
    from gateway.stages.execute.attempt.exchange import WireRequest  # noqa: PLC0415

    clock = SystemClock()
    if url is None:
        env = {name: _filled(text) for name, text in place.env.items()}
        upstream = Upstream(ProcessChannel(place.command, env, clock), clock)
        return await _asked(upstream, place.command[0])
    parts = urlsplit(url)
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        raise Failure(f"{url!r} has no port that there is.", Exit.USAGE) from None
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    # What the operator names on the command line may be private; nothing else may.
    transport = HttpToolTransport(clock, egress=EgressPolicy((f"{host}:{port}",)))
    like = WireRequest(
        method="POST",
        origin=f"{parts.scheme}://{host}:{port}",
        target=parts.path or "/",
        secret_headers=tuple((name, _filled(text)) for name, text in place.headers.items()),
    )
    try:
        return await _asked(Upstream(HttpChannel(transport, clock, like), clock), url)
    finally:
        await transport.aclose()


async def _asked(upstream: "Upstream", name: str) -> list[Any]:
    from gateway.stages.execute.attempt.exchange import Fault  # noqa: PLC0415 - as above

    try:
        found = await upstream.tools()
    finally:
        await upstream.aclose()
    if not isinstance(found, list):
        said = f"{name} gave no list of tools: {found.fault} ({found.detail})."
        if found.fault is Fault.CREDENTIAL_REFUSED:
            raise Failure(f"{said} {_CREDENTIAL}", Exit.NO)
        raise Failure(said, Exit.UNREACHABLE)
    return found


def _prefix(text: str) -> str:
    return _WORD.sub("_", text.upper()).lstrip("_0123456789").rstrip("_") or "MCP"


def _named(given: tuple[str, ...], shape: re.Pattern[str], option: str) -> dict[str, str]:
    """Names and values, as the drafts will have them."""
    named: dict[str, str] = {}
    for text in given:
        found = shape.fullmatch(text)
        if found is None:
            raise Failure(f"write {option}.", Exit.USAGE)
        named[found[1]] = found[2].strip()
        _filled(found[2])
    return named


def _filled(text: str) -> str:
    """A value as it is sent.

    Raises:
        Failure: it names a secret that the environment does not have, or is no template.
    """
    from gateway.manifest.placeholders import Reference, TemplateError, fill, parse  # noqa: PLC0415 - as above

    try:
        pieces = parse(text)
        if any(isinstance(piece, Reference) for piece in pieces):
            raise Failure("nothing is called, so nothing of a call may stand in a header or a variable.", Exit.USAGE)
        return "".join(map(str, fill(pieces, os.environ, os.environ)))
    except TemplateError as error:
        raise Failure(f"{error}.", Exit.USAGE) from None


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


def _print_next(url: str | None, out: Path | None, place: "Place") -> None:
    if out is None:
        where = shlex.quote(url) if url is not None else f"--stdio {shlex.quote(shlex.join(place.command))}"
        click.echo(f"nothing was written; next: oncegate import mcp {where} --out tool_manifests", err=True)
        return
    folder = shlex.quote(str(out))
    allow, names = f"serve with --mcp-commands {shlex.quote(place.command[0])}" if place.command else "", ""
    if url is not None:
        parts = urlsplit(url)
        allow, names = f"set {place.variable}={parts.scheme}://{parts.netloc}", f" --manifest-env {place.variable}"
    click.echo(
        f"next: decide what remains in the files of {folder}; {allow}; then\n  oncegate check {folder}{names}", err=True
    )
