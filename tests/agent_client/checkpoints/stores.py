"""The stores as other processes open them."""

import contextlib
from collections.abc import AsyncIterator

from agent_client.checkpoints import PostgresCheckpoints, SQLiteCheckpoints

SQLITE = f"{__name__}:open_sqlite"
POSTGRES = f"{__name__}:open_postgres"
KEY = b"0123456789abcdef"


@contextlib.asynccontextmanager
async def open_sqlite(path: str) -> AsyncIterator[SQLiteCheckpoints]:
    """A file."""
    async with SQLiteCheckpoints(path) as store:
        yield store


@contextlib.asynccontextmanager
async def open_postgres(address: str) -> AsyncIterator[PostgresCheckpoints]:
    """A database."""
    async with PostgresCheckpoints(address, connections=4) as store:
        yield store
