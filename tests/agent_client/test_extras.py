"""A part that is not installed is named with what installs it, also where there is no index that has OnceGate."""

import asyncio
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from agent_client.checkpoints.postgres import PostgresSession
from agent_client.engines.dbos import Fleet
from agent_client.extras import installing
from agent_client.sealing import AesSealer


def test_both_commands_are_told() -> None:
    """From an index, and in a clone."""
    assert installing("x") == "pip install 'oncegate[x]', or in a clone: pip install '.[x]'"


def seal() -> None:
    """Make a sealer."""
    AesSealer([b"k" * 32])


def connect() -> None:
    """Open a session on Postgres."""
    PostgresSession("postgresql://127.0.0.1:1/x")


def launch() -> None:
    """Launch a fleet."""
    runner: Any = SimpleNamespace()
    asyncio.run(Fleet(runner, database_url="postgresql://127.0.0.1:1/x", version="1").launch())


@pytest.mark.parametrize(
    ("needs", "extra", "missing"),
    [
        (seal, "sealed", "cryptography.hazmat.primitives.ciphers.aead"),
        (connect, "postgres", "asyncpg"),
        (launch, "dbos", "dbos"),
    ],
)
def test_each_part_says_what_installs_it(needs: Any, extra: str, missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the one wording."""
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises((ImportError, RuntimeError)) as told:
        needs()

    assert installing(extra) in str(told.value)
