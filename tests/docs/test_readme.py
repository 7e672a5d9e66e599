"""README.md: its quickstart, run as it stands by one shell."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.docs.test_agent_page import PAGE, ROOT, free_ports, played

SHELL: Final = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("bash") and shutil.which("curl")), reason="the page is for a shell with curl")
def test_the_quickstart_asks_a_person_and_makes_one_refund(tmp_path: Path) -> None:
    """From the keys to the stored result: asked for, approved, made, told again; nothing to fill in or to clean up."""
    (tmp_path / "tool_manifests").symlink_to(ROOT / "tool_manifests")
    (tmp_path / ".gitignore").write_bytes((ROOT / ".gitignore").read_bytes())
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    provider, gateway = free_ports()
    script = "".join(SHELL).replace("9000", str(provider)).replace("8080", str(gateway))
    script = script.replace(
        "oncegate serve", f"export ONCEGATE_URL=http://127.0.0.1:{gateway}\noncegate serve --port {gateway}"
    )

    code, printed = played(tmp_path, script)

    logs = "".join(log.read_text() for log in tmp_path.glob("*.log"))
    assert code == 0, f"{printed}\n{logs}"
    assert "must be approved by somebody with refunds:approve first" in printed
    assert printed.count("RF-99201") == 2
    assert printed.count("the stored result of an earlier call") == 1
    seen = subprocess.run(
        ["git", "-C", str(tmp_path), "status", "--porcelain"], check=True, capture_output=True, text=True
    )
    assert {line.split()[-1] for line in seen.stdout.splitlines()} == {".gitignore", "tool_manifests"}


def test_no_page_refunds_an_order_of_another() -> None:
    """Either of both pages can be done first, in one folder: the second makes its refund all the same."""
    orders = [set(re.findall(r"ORD-[0-9]+", text)) for text in ("".join(SHELL), PAGE)]

    assert orders == [{"ORD-8472"}, {"ORD-9135"}]


@pytest.mark.skipif(not shutil.which("bash"), reason="the page is for a shell")
@pytest.mark.parametrize("text", ["".join(SHELL), PAGE])
def test_a_gateway_that_ended_is_not_waited_for(text: str, tmp_path: Path) -> None:
    """The loop that waits for it ends with it."""
    (loop,) = re.findall(r"^until oncegate tools .*$", text, re.MULTILINE)

    code, printed = played(tmp_path, f"false &\nwait $! || true\n{loop}\necho went on")

    assert (code, printed.splitlines()[-1:]) == (0, ["went on"])
