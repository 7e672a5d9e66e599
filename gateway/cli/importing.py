"""`oncegate import`: the tools that a team has, as draft manifests."""

import re
import shlex
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from gateway.cli.drafts import write_drafts
from gateway.cli.exits import EXIT_HELP, Exit, Failure
from gateway.cli.importing_mcp import mcp
from gateway.cli.output import json_option, print_json, print_table

if TYPE_CHECKING:
    from gateway.manifest.importing import Import, Row

_WORD: Final = re.compile(r"[^A-Z0-9]+")
_FILE: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_PLACE: Final = re.compile(r"\(openapi/([^:()]+)(?=:[0-9]+:[0-9]+\))")
_OWNER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@/-]{0,127}")


@click.group(epilog=EXIT_HELP)
def command() -> None:
    """Draft manifests from the tools that are there already."""


@command.command("openapi", epilog=EXIT_HELP)
@click.argument("source", metavar="FILE_OR_URL")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the drafts here.  [default: nothing is written]",
)
@click.option("--only", multiple=True, metavar="OPERATION_ID", help="Only this operation; may be repeated.")
@click.option("--prefix", metavar="NAME", help="Of ${NAME_URL} and the secrets.  [default: from the file's name]")
@click.option("--owner", default="unassigned", show_default=True, help="The team that will answer for the tools.")
@json_option
def openapi(
    *, source: str, out: Path | None, only: tuple[str, ...], prefix: str | None, owner: str, as_json: bool
) -> None:
    """Draft a manifest for each operation of an OpenAPI 3.0 or 3.1 document.

    Nothing is called, and no reference is fetched. A GET or HEAD becomes a read; everything else a write that does
    not load before a person has said what identifies an action and how an unknown outcome is settled.

    \b
    oncegate import openapi shop.yaml
    oncegate import openapi shop.yaml --only createRefund --only getRefund --out tool_manifests
    """  # noqa: D301 - click's mark for lines that stay lines
    from gateway.adapters.cel.engine import CelEngine  # noqa: PLC0415 - with the others: --help needs none
    from gateway.cli.fetching import files_of  # noqa: PLC0415
    from gateway.manifest.importing import import_openapi  # noqa: PLC0415
    from gateway.manifest.openapi.document import OpenApiError  # noqa: PLC0415
    from gateway.manifest.openapi.drafts import Terms  # noqa: PLC0415
    from gateway.manifest.openapi.library import Library  # noqa: PLC0415

    if not _OWNER.fullmatch(owner):
        raise Failure(f"--owner {owner!r} is no name of a team.", Exit.USAGE)
    name, files = files_of(source)
    stored = f"openapi/{_FILE.sub('-', name).lstrip('.') or 'document'}"
    named = prefix or Path(name).name.partition(".")[0]
    word = _WORD.sub("_", named.upper()).lstrip("_0123456789").rstrip("_") or "SERVICE"
    terms = Terms(document=stored, prefix=word, owner=owner)
    # The document is kept under a name that a manifest can write; those beside it keep theirs.
    documents = ChainMap({stored: files[f"openapi/{name}"]}, files)  # type: ignore[arg-type]  # only ever read
    library = Library(documents)
    try:
        result = import_openapi(library, terms, CelEngine(), only=only)
    except OpenApiError as error:
        raise Failure(f"{_as_given(library.complaint(error), source, stored)}.", Exit.NO) from None
    if out is None or not result.drafts:
        rows = [replace(row, reason=row.reason and _as_given(row.reason, source, stored)) for row in result.rows]
        result = replace(result, rows=tuple(rows))
    written = [] if out is None else _write(out, result, documents)
    if as_json:
        print_json(_document(result, written))
    else:
        _print(result)
        if result.drafts:
            _print_next(source, out, f"{word}_URL")
    if not result.drafts:
        raise click.exceptions.Exit(Exit.NO)


command.add_command(mcp)


def _write(out: Path, result: "Import", documents: Mapping[str, bytes]) -> list[str]:
    """The drafts, and the documents that they name."""
    wanted: dict[Path, bytes] = {out / name: documents[name] for name in sorted(result.used)}
    wanted |= {out / name: text.encode() for name, text in result.drafts.items()}
    return write_drafts(wanted)


def _document(result: "Import", written: list[str]) -> dict[str, object]:
    rows = [
        {
            "operation": row.operation,
            "method": row.method,
            "path": row.path,
            "tool": row.tool,
            "effect": row.effect,
            "decide": list(row.decide),
            "reason": row.reason,
            "notes": list(row.notes),
        }
        for row in result.rows
    ]
    return {"ok": bool(result.drafts), "operations": rows, "written": written}


def _as_given(text: str, source: str, stored: str) -> str:
    """Nothing is written, so there is no `openapi/NAME` yet: places are told in the files that were given."""

    def given(found: re.Match[str]) -> str:
        own = found[1] in {Path(source).name, stored.removeprefix("openapi/")} or "://" in source
        return f"({source if own else Path(source).parent / found[1]}"

    return _PLACE.sub(given, text)


def _print(result: "Import") -> None:
    cells = [(row.operation, f"{row.method} {row.path}", row.effect or "refused", _remains(row)) for row in result.rows]
    print_table(("OPERATION", "REQUEST", "DRAFT", "WHAT REMAINS"), cells, "the document has no operation")
    refused = sum(row.tool is None for row in result.rows)
    ready = sum(row.tool is not None and not row.decide for row in result.rows)
    waiting = len(result.rows) - refused - ready
    click.echo(f"{ready} pass `oncegate check`, {waiting} wait for a decision, {refused} refused")


def _print_next(source: str, out: Path | None, variable: str) -> None:
    if out is None:
        click.echo(
            f"nothing was written; next: oncegate import openapi {shlex.quote(source)} --out tool_manifests", err=True
        )
        return
    folder = shlex.quote(str(out))
    click.echo(
        f"next: decide what remains in the files of {folder}; set {variable} to the service's address; then\n"
        f"  oncegate check {folder} --manifest-env {variable}",
        err=True,
    )


def _remains(row: "Row") -> str:
    if row.reason is not None:
        return row.reason
    notes = f"{len(row.notes)} not taken over" if row.notes else ""
    decide = f"decide: {', '.join(row.decide)}" if row.decide else ""
    return "; ".join(part for part in (decide, notes) if part) or "passes"
