"""What ends a server's group when the gateway is gone."""

import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from gateway.adapters.mcp_tool import guard

WAITS = (sys.executable, "-c", "import signal; print(1, flush=True); signal.pause()")


@pytest.fixture
def group() -> Iterator[subprocess.Popen[bytes]]:
    """A process that leads a group, and waits."""
    leader = subprocess.Popen(WAITS, stdout=subprocess.PIPE, start_new_session=True)
    assert leader.stdout is not None
    leader.stdout.readline()
    yield leader
    leader.kill()
    leader.wait()
    leader.stdout.close()


def guarding(pid: int) -> subprocess.Popen[bytes]:
    """A guard over this group."""
    words = (sys.executable, "-I", "-S", guard.__file__, str(pid))
    return subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True)


def test_a_group_ends_when_the_gateway_does(group: subprocess.Popen[bytes]) -> None:
    """What the gateway held open is closed, and nothing else was written to it."""
    beside = guarding(group.pid)
    assert beside.stdin is not None
    beside.stdin.write(b"x")
    beside.stdin.flush()
    with pytest.raises(subprocess.TimeoutExpired):
        group.wait(0.3)
    beside.stdin.close()
    assert (group.wait(20), beside.wait(20)) == (-signal.SIGKILL, 0)


def test_a_group_that_is_gone_is_nobodys(group: subprocess.Popen[bytes]) -> None:
    """There is nothing to kill, and nothing to complain of."""
    group.kill()
    group.wait()
    beside = guarding(group.pid)
    beside.communicate(timeout=20)
    assert beside.returncode == 0
