"""What wrk said at its end is what was served."""

import pytest

from bench.load import LoadError, read

SAID = """Running 1s test @ http://127.0.0.1:1
  1 threads and 8 connections

DONE {"calls": 1200, "micros": 1003000, "broken": 1, "not_ok": 2, "p50_us": 1500, "p99_us": 9000}
"""


def test_figures_are_read_in_our_units() -> None:
    """Seconds and milliseconds, from wrk's microseconds."""
    served = read(SAID)
    assert (served.calls, served.seconds, served.broken, served.not_ok) == (1200, 1.003, 1, 2)
    assert (served.p50_ms, served.p99_ms) == (1.5, 9.0)


@pytest.mark.parametrize("printed", ["", "unable to connect to 127.0.0.1:1 Connection refused\n"])
def test_silence_is_no_figure(printed: str) -> None:
    """A wrk that ended early must not count as a fast server."""
    with pytest.raises(LoadError, match="wrk said nothing"):
        read(printed)


def test_no_call_is_no_figure() -> None:
    """Nothing can be divided by the calls of a server that answered none."""
    with pytest.raises(LoadError, match="no call was answered"):
        read(SAID.replace("1200", "0"))
