"""A worker is alive for as long as its connection is, and nobody else decides it."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import Iterator
from contextlib import ExitStack

import psycopg
import pytest

from agent_client.engines.presence import SPACE, Presence, number

_HOLDER = """
import sys
from agent_client.engines.presence import Presence
held = Presence(sys.argv[1], "other")
held.enter()
print("alive", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def present(postgres_url: str) -> Iterator[Presence]:
    """A worker that is alive."""
    with ExitStack() as stack:
        presence = Presence(postgres_url, "me")
        stack.callback(presence.leave)
        presence.enter()
        yield presence


async def test_scenario_19_a_killed_worker_is_dead_and_a_living_one_is_not(
    present: Presence, postgres_url: str
) -> None:
    """SIGKILL is enough: nobody has to say goodbye, and no time has to pass."""
    command = (sys.executable, "-c", _HOLDER, postgres_url)
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
    assert process.stdout is not None
    assert await process.stdout.readline() == b"alive\n"
    assert not present.claim_if_dead("other")
    process.kill()
    await process.communicate()
    # The server sees the closed socket in its own time: wait as any other would for the lock.
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s, %s)", (SPACE, number("other")))
        connection.execute("SELECT pg_advisory_unlock(%s, %s)", (SPACE, number("other")))
    assert present.claim_if_dead("other")


def test_a_dead_worker_is_adopted_by_one(present: Presence, postgres_url: str) -> None:
    """While one adopts, the others are told that it is not theirs to adopt."""
    other = Presence(postgres_url, "third")
    other.enter()
    assert present.claim_if_dead("gone")
    assert not other.claim_if_dead("gone")
    present.release("gone")
    assert other.claim_if_dead("gone")
    other.leave()


def test_two_that_live_do_not_share_a_name(present: Presence, postgres_url: str) -> None:
    """The second is refused; it may have it when the first is gone."""
    second = Presence(postgres_url, "me")
    with pytest.raises(ValueError, match="another worker that lives has the executor id me"):
        second.enter()
    present.leave()
    second.enter()
    second.leave()


def test_a_lost_connection_is_entered_again(present: Presence, postgres_url: str) -> None:
    """After a failover the worker is alive again under its name."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    present.enter()
    present.enter()
    second = Presence(postgres_url, "me")
    with pytest.raises(ValueError, match="another worker"):
        second.enter()


def test_nobody_looks_without_being_there() -> None:
    """Who is not alive cannot adopt."""
    with pytest.raises(ValueError, match="enter first"):
        Presence("host=/nowhere", "me").claim_if_dead("other")
