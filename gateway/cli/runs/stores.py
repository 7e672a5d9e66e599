"""Checkpoints by their address, and the errors of reading them in words."""

import asyncio
import os
import sqlite3
from collections.abc import Callable, Coroutine
from contextlib import closing
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from agent_client.checkpoints import PostgresCheckpoints, SQLiteCheckpoints
from agent_client.checkpoints.schema import SchemaTooNewError
from agent_client.journal import CheckpointsUnavailable, CorruptLog
from gateway.cli.exits import Exit, Failure

VARIABLE: Final = "ONCEGATE_CHECKPOINTS"
KEY_VARIABLE: Final = "ONCEGATE_CHECKPOINTS_KEY"
_POSTGRES: Final = ("postgres://", "postgresql://")

Store = SQLiteCheckpoints | PostgresCheckpoints
_T = TypeVar("_T")

checkpoints_option = click.option(
    "--checkpoints",
    "address",
    metavar="URL",
    envvar=VARIABLE,
    show_envvar=True,
    help="Where the tasks are kept: a file, sqlite:///FILE, or postgresql://… (its password belongs in PGPASSWORD).",
)


def reading(address: str | None, work: Callable[[Store], Coroutine[Any, Any, _T]]) -> _T:
    """What `work` brings from the checkpoints at `address`.

    Raises:
        Failure: USAGE when there are none, UNREACHABLE when they do not answer, FAULT when they are damaged.
    """
    try:
        store = _opened(address)
        try:
            return asyncio.run(work(store))
        finally:
            store.close()
    except CheckpointsUnavailable as away:
        raise Failure(f"{away}.", Exit.UNREACHABLE) from None
    except CorruptLog as damaged:
        hint = (
            "" if os.environ.get(KEY_VARIABLE) else f" (if they were written with an integrity key, set {KEY_VARIABLE})"
        )
        raise Failure(f"{damaged}{hint}.", Exit.FAULT) from None
    except SchemaTooNewError as newer:
        raise Failure(f"{newer}.", Exit.USAGE) from None
    except RuntimeError as missing:
        raise Failure(f"{missing}.", Exit.USAGE) from None


def _opened(address: str | None) -> Store:
    if not address:
        raise Failure(f"say where the tasks are kept: --checkpoints URL, or {VARIABLE}.", Exit.USAGE)
    key = _key()
    if address.startswith(_POSTGRES):
        return PostgresCheckpoints(address, connections=1, integrity_key=key)
    scheme, mark, rest = address.partition(":")
    if mark and scheme == "sqlite":
        # As database URLs are written: three slashes and a relative path, four and an absolute one.
        address = rest.removeprefix("///") if rest.startswith("///") else rest
    elif "://" in address:
        raise Failure(f"checkpoints are kept in sqlite or postgresql, not in {scheme}.", Exit.USAGE)
    _must_hold_tasks(address)
    return SQLiteCheckpoints(address, integrity_key=key)


def _must_hold_tasks(path: str) -> None:
    """Looking must make no file, and no table in a file of something else."""
    if not Path(path).is_file():
        raise Failure(f"there is no file {path}.", Exit.USAGE)
    try:
        with closing(sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)) as connection:
            found = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'checkpoint_tasks'").fetchone()
    except sqlite3.Error as odd:
        raise Failure(f"{path} cannot be read as checkpoints: {odd}.", Exit.USAGE) from None
    if found is None:
        raise Failure(f"{path} holds no checkpoints.", Exit.USAGE)


def _key() -> bytes | None:
    given = os.environ.get(KEY_VARIABLE)
    if not given:
        return None
    try:
        return bytes.fromhex(given)
    except ValueError:
        raise Failure(f"{KEY_VARIABLE} is not hexadecimal.", Exit.USAGE) from None
