import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gateway.demo.incident import INTERRUPTED, run_demo
from gateway.demo.sides import MANIFESTS, Pace

pytestmark = pytest.mark.slow


@pytest.fixture
def fast(tmp_path: Path) -> Pace:
    """The incident a good three times as fast, with manifests to match."""
    for manifest in MANIFESTS.glob("*.yaml"):
        text = (
            manifest.read_text(encoding="utf-8").replace("read: 5s", "read: 1500ms").replace("inline: 1s", "inline: 0s")
        )
        (tmp_path / manifest.name).write_text(text, encoding="utf-8")
    return Pace(morning_s=(2.7, 2.1, 0.3), timeout_s=1.5, manifests=tmp_path)


def test_three_refunds_without_and_one_through_the_gateway(fast: Pace) -> None:
    """The whole demo, a good three times as fast: both ledgers, the unknown, its end, and the rows."""
    out = io.StringIO()
    code = run_demo(out=out, pace=fast)
    text = out.getvalue()

    assert code == 0, text
    assert "without   3        12,750 rupees  RF-99201, RF-99202, RF-99203" in text
    assert "OnceGate  1        4,250 rupees   RF-99201" in text
    assert "timeout_unknown_outcome" in text
    assert "gets the stored result: RF-99201" in text


def test_a_gateway_that_does_not_start_is_said_so(tmp_path: Path) -> None:
    """Without a usable manifest the demo ends with 1 and the reason, and leaves no provider behind."""
    (tmp_path / "issue_refund.yaml").write_text("manifest: 1\nname: [\n", encoding="utf-8")
    out = io.StringIO()

    assert run_demo(out=out, pace=Pace(manifests=tmp_path)) == 1
    assert "could not be started" in out.getvalue()


def _children_of(session: str) -> list[str]:
    ours = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if session in (folder / "environ").read_text(errors="replace"):
                ours.append((folder / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return ours


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="reads the process table of Linux")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demo_leaves_nothing_running(how: signal.Signals, tmp_path: Path) -> None:
    """Ctrl-C or SIGTERM in the middle of the wait: every child is gone, and so are its files."""
    mark = f"DEMO_TEST={os.getpid()}-{time.monotonic_ns()}"
    name, _, value = mark.partition("=")
    demo = subprocess.Popen(
        [sys.executable, "-c", "import sys; from gateway.demo.incident import run_demo; sys.exit(run_demo())"],
        env={**os.environ, name: value, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert demo.stdout is not None
    for line in demo.stdout:
        if "POST" in line:
            break
    running = len(_children_of(mark))
    demo.send_signal(how)
    demo.communicate(timeout=30)

    assert running == 4
    assert demo.returncode == INTERRUPTED
    assert (_children_of(mark), list(tmp_path.iterdir())) == ([], [])
