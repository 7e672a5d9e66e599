"""What statements a connection runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import apsw


@contextmanager
def asked(connection: apsw.Connection) -> Iterator[list[tuple[str, Any]]]:
    """Every statement that begins inside, with its values."""
    statements: list[tuple[str, Any]] = []

    def note(_: object, sql: str, values: Any) -> bool:
        statements.append((sql, values))
        return True

    connection.set_exec_trace(note)
    try:
        yield statements
    finally:
        connection.set_exec_trace(None)
