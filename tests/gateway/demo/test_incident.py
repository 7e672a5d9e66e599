import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gateway.demo import typed
from gateway.demo.incident import run_demo
from gateway.demo.sides import MANIFESTS, Pace
from gateway.demo.stopping import INTERRUPTED

pytestmark = pytest.mark.slow

MORNING_S = (2.7, 2.1, 0.3)
TIMEOUT_S = 1.5
RUN = f"""
import sys
from pathlib import Path
from gateway.demo.incident import run_demo
from gateway.demo.sides import Pace
pace = Pace(morning_s={MORNING_S}, timeout_s={TIMEOUT_S}, manifests=Path(sys.argv[1]))
sys.exit(run_demo(pace=pace, by_hand=sys.argv[2] == "True"))
"""


@pytest.fixture
def fast(tmp_path: Path) -> Pace:
    """The incident a good three times as fast, with manifests to match."""
    (tmp_path / "manifests").mkdir()
    for manifest in MANIFESTS.glob("*.yaml"):
        text = (
            manifest.read_text(encoding="utf-8").replace("read: 5s", "read: 1500ms").replace("inline: 1s", "inline: 0s")
        )
        (tmp_path / "manifests" / manifest.name).write_text(text, encoding="utf-8")
    return Pace(morning_s=MORNING_S, timeout_s=TIMEOUT_S, manifests=tmp_path / "manifests")


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
    assert "AWAITING_APPROVAL (approval), version 4" in text
    assert f"\n  {typed.oncegate()} approvals approve 01" in text
    assert f"\n  {typed.oncegate()} demo --by-hand " in text
    assert f"\n  {typed.python()} examples/order_8472.py " in text
    assert f"\n  {typed.python()} -m gateway.demo.provider " in text
    assert "task-8472-a: SUCCEEDED (verified)" in text
    assert "for that order: 1 refund, 1 message to the customer" in text


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
@pytest.mark.parametrize(
    ("how", "by_hand", "seen"),
    [
        (signal.SIGINT, False, "POST"),
        (signal.SIGTERM, False, "POST"),
        (signal.SIGTERM, True, "approvals approve 01"),
    ],
)
def test_an_interrupted_demo_leaves_nothing_running(
    how: signal.Signals,
    by_hand: bool,  # noqa: FBT001 - a case of the table
    seen: str,
    fast: Pace,
    tmp_path: Path,
) -> None:
    """Ctrl-C or SIGTERM in the middle of the wait, for the provider or for a person: children and files are gone.

    It is said at once, and nothing that still happens is told as if it belonged to the incident.
    """
    mark = f"DEMO_TEST={os.getpid()}-{time.monotonic_ns()}"
    name, _, value = mark.partition("=")
    (tmp_path / "tmp").mkdir()
    demo = subprocess.Popen(
        [sys.executable, "-c", RUN, str(fast.manifests), str(by_hand)],
        env={**os.environ, name: value, "TMPDIR": str(tmp_path / "tmp")},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert demo.stdout is not None
    lines = []
    for line in demo.stdout:
        lines.append(line)
        if seen in line:
            break
    running = len(_children_of(mark))
    demo.send_signal(how)
    said = demo.communicate(timeout=30)[0].splitlines()

    assert said[-4:] == ["", "Stopping…", "", "Stopped. Nothing was left running."], said
    assert running == 4, "".join(lines)
    assert demo.returncode == INTERRUPTED
    assert (_children_of(mark), list((tmp_path / "tmp").iterdir())) == ([], [])
