"""What commands print: JSON for programs, aligned text for people. Colours only on a terminal (click sees to it)."""

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import click

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")


def print_json(document: Any) -> None:
    """One JSON document, indented on a terminal and in one line elsewhere."""
    terminal = sys.stdout.isatty()
    click.echo(json.dumps(document, ensure_ascii=False, indent=2 if terminal else None))


def print_pretty(document: Any) -> None:
    """JSON for people, always indented."""
    click.echo(json.dumps(document, ensure_ascii=False, indent=2))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], empty: str) -> None:
    """Columns as wide as their widest cell; `empty` when there is no row."""
    if not rows:
        click.echo(empty)
        return
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(len(line[i]) for line in [list(columns), *cells]) for i in range(len(columns))]
    click.echo(
        click.style(
            "  ".join(name.ljust(width) for name, width in zip(columns, widths, strict=True)).rstrip(), bold=True
        )
    )
    for line in cells:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def print_fields(fields: Mapping[str, Any]) -> None:
    """One line a field."""
    width = max((len(name) for name in fields), default=0)
    for name, value in fields.items():
        click.echo(f"{click.style(name.ljust(width), bold=True)}  {_cell(value)}")


def moment(wall: float, *, timespec: str = "milliseconds") -> str:
    """Seconds since 1970 as a moment in UTC, to the millisecond, as the gateway writes them."""
    return datetime.fromtimestamp(wall, UTC).isoformat(timespec=timespec).replace("+00:00", "Z")


def second(wall: float | None) -> str | None:
    """The same to the second it is in. None: there is no such moment."""
    return None if wall is None else moment(wall, timespec="seconds")


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value)
    # What a tool or a caller wrote must not move a terminal's cursor.
    return "".join(character if character.isprintable() else "�" for character in text)
