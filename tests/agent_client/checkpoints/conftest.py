"""A real Postgres for the whole session, a database of it for each test."""

import itertools
from collections.abc import Iterator

import pytest

from bench import postgres

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The server's connection string."""
    with postgres.server() as address:
        yield address


@pytest.fixture
def postgres_database(postgres_server: str) -> str:
    """The URL of an empty database."""
    return postgres.url_of(postgres.database(postgres_server, f"test{next(_numbers)}"))
