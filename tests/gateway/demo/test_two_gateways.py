import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.demo.sides import MANIFESTS, Pace
from gateway.demo.stopping import INTERRUPTED
from gateway.demo.two_gateways import run_demo

pytestmark = pytest.mark.slow


@pytest.fixture
def fast(tmp_path: Path) -> Pace:
    """The incident twice as fast, with manifests to match."""
    for manifest in MANIFESTS.glob("*.yaml"):
        text = manifest.read_text(encoding="utf-8").replace("read: 5s", "read: 2500ms")
        (tmp_path / manifest.name).write_text(text, encoding="utf-8")
    return Pace(morning_s=(6.5,), timeout_s=2.5, manifests=tmp_path)


def test_one_refund_although_the_gateway_that_sent_it_was_killed(fast: Pace) -> None:
    """The whole demo: the retry at the other gateway sends nothing and is told the truth, in the end the result."""
    out = io.StringIO()
    code = run_demo(out=out, pace=fast)
    text = out.getvalue()

    assert code == 0, text
    assert "kill -9" in text
    assert [line.split()[-1] for line in text.splitlines() if "at B" in line and "retry" in line] == ["outcome_unknown"]
    assert "provider's ledger  RF-99201\n" in text
    assert "1 refund." in text


def test_a_gateway_that_does_not_start_is_said_so(tmp_path: Path) -> None:
    """Without a usable manifest the demo ends with 1 and the reason."""
    (tmp_path / "issue_refund.yaml").write_text("manifest: 1\nname: [\n", encoding="utf-8")
    out = io.StringIO()

    assert run_demo(out=out, pace=Pace(manifests=tmp_path)) == 1
    assert "could not be started" in out.getvalue()


@pytest.mark.skipif(sys.platform != "linux", reason="reads the process table of Linux")
def test_an_interrupted_demo_leaves_nothing_running(tmp_path: Path) -> None:
    """SIGTERM in the middle of the wait: provider, Redis and both gateways are gone, and so are their files.

    It is said at once, and nothing is told after it.
    """
    demo = subprocess.Popen(
        [sys.executable, "-m", "gateway", "demo", "--redis"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert demo.stdout is not None
    said = []
    for line in demo.stdout:
        said.append(line.rstrip("\n"))
        if "POST" in line:
            break
    children = Path(f"/proc/{demo.pid}/task/{demo.pid}/children").read_text().split()
    demo.send_signal(signal.SIGTERM)
    said += demo.communicate(timeout=60)[0].splitlines()

    assert said[-4:] == ["", "Stopping…", "", "Stopped. Nothing was left running."], said
    assert len(children) == 4
    assert demo.returncode == INTERRUPTED
    assert [pid for pid in children if Path(f"/proc/{pid}").exists()] == []
    assert list(tmp_path.iterdir()) == []
