"""docs/agent.md: its blocks, run in their order by one shell, and its words against the program."""

import ast
import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from agent_client.arguments import misfit
from agent_client.status import STATUS_OF, Reason, Status
from agent_client.task_type import RESERVED
from agent_client.toolbox import RUNTIME_TOOLS

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs" / "agent.md").read_text(encoding="utf-8")
PYTHON: Final = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
AGENT, ONCE = "\n\n".join(PYTHON[:3]), PYTHON[3]
SHELL: Final = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
ENDS_WITHIN_S: Final = 240


def free_ports() -> list[int]:
    """Two that nobody listens on now."""
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        return [one.getsockname()[1], other.getsockname()[1]]


def played(folder: Path, script: str) -> tuple[int, str]:
    """Run the script in a session of its own, which ends with it whatever happens."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ONCEGATE_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shell = subprocess.Popen(
        ["bash", "-eu", "-o", "pipefail", "-c", script],
        cwd=folder,
        env={**kept, "PATH": path, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        printed, _ = shell.communicate(timeout=ENDS_WITHIN_S)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)
    return shell.returncode, printed


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("bash") and shutil.which("curl")), reason="the page is for a shell with curl")
def test_every_block_of_the_page_runs_and_one_refund_is_made(tmp_path: Path) -> None:
    """From the keys to the kill: suspended, approved, killed -9, taken up, verified, one refund."""
    (tmp_path / "tool_manifests").symlink_to(ROOT / "tool_manifests")
    (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
    (tmp_path / "once.py").write_text(ONCE, encoding="utf-8")
    provider, gateway = free_ports()
    script = "".join(SHELL).replace("9000", str(provider)).replace("8080", str(gateway))

    code, printed = played(tmp_path, script)

    logs = "".join(log.read_text() for log in tmp_path.glob("*.log"))
    assert code == 0, f"{printed}\n{logs}"
    assert (tmp_path / "waiting.txt").read_text().startswith("AWAITING_APPROVAL")
    assert (tmp_path / "end.txt").read_text().startswith("SUCCEEDED verified"), printed
    assert "\n1 refund\n" in printed
    assert "pay_9a2" in printed
    refunds, payments = (line for line in printed.splitlines() if line.startswith("[{"))
    assert refunds.count("'refund_id': 'RF-") == 1
    assert payments.count("'payment_id': 'pay_9a") == 2


def test_every_block_is_one_that_is_run() -> None:
    """No third kind of block stands on the page."""
    assert PAGE.count("```") == 2 * (len(SHELL) + len(PYTHON))
    assert len(PYTHON) == 4


def test_every_tool_of_the_runtime_is_on_the_page_with_its_arguments() -> None:
    """A model ends its task by one of them; the page's last words on it are a call that would be accepted."""
    told = dict(re.findall(r"^- `(\w+)`, with (.+(?:\n  .+)*)", PAGE, re.MULTILINE))

    assert set(told) == set(RESERVED)
    for name, words in told.items():
        assert set(RUNTIME_TOOLS[name].parameters["properties"]) <= set(re.findall(r"`(\w+)`", words))
    (name, given), *_ = [ast.literal_eval(call) for call in re.findall(r'`(\("finish", .+\))`', PAGE)]
    assert misfit(given, RUNTIME_TOOLS[name].parameters) is None
    assert "`no_tool_call: …" in PAGE


def test_every_status_is_on_the_page_with_reasons_of_its_own() -> None:
    """Each row of the table names reasons that lead to its status."""
    rows = re.findall(r"^\| `([A-Z_]+)` \| [^|]+ \| ([^|]+) \|$", PAGE, re.MULTILINE)

    assert [name for name, _ in rows] == [status.value for status in Status]
    for name, reasons in rows:
        named = re.findall(r"`(\w+)`", reasons)
        assert {STATUS_OF[Reason(reason)] for reason in named} == {Status(name)}
