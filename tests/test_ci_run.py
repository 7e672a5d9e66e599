"""`.ci/run` as a clean machine sees it: what is installed, what runs, what the last line and the status say.

`make` and `apt-get` are fakes: programs in a folder that is the whole PATH.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NEEDED = ("bash", "dirname", "mktemp", "rm", "timeout", "tail", "sed", "sh", "sleep", "touch", "cat")
GREEN = "===== 7 passed, 1 skipped in 0.50s ====="
WHOLE = ("make", "wrk", "ip", "iptables", "redis-server", "npm")
"""What a machine has on which nothing is missed."""
STEPS = [".venv/.installed", "lint", "test", "scenarios", "conformance", "examples"]
BESIDE = "collected"
"""Made while another step runs, and done before the tests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What came of it."""

    status: int
    lines: list[str]
    errors: str
    made: list[str]
    """The targets that were asked of make, in order, but for what is made beside a step."""
    beside: list[str]
    """What had been made beside a step when the tests began."""
    installed: str


Run = Callable[..., Ran]


def program(folder: Path, name: str, script: str) -> None:
    """Put a program on the PATH."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A clean machine, on which `make TARGET` does what the test says."""

    def run(*, user: int = 1000, has: tuple[str, ...] = WHOLE, **targets: str) -> Ran:
        folder, tree = tmp_path / "bin", tmp_path / "tree"
        (tree / ".ci").mkdir(parents=True)
        (tree / "bench" / "scenarios").mkdir(parents=True)
        folder.mkdir()
        shutil.copy(ROOT / ".ci" / "run", tree / ".ci" / "run")
        for name in NEEDED:
            found = shutil.which(name)
            assert found is not None
            (folder / name).symlink_to(found)
        (folder / "python3").symlink_to(sys.executable)
        program(folder, "id", f"echo {user}")
        program(folder, "apt-get", f'echo "$@" >>{tmp_path}/installed')
        for name in has:
            program(folder, name, "exit 0")
        cases = "\n".join(
            f"*' {target}') {script};;" for target, script in {"test": f"echo '{GREEN}'", **targets}.items()
        )
        if "make" in has:
            program(folder, "make", f'echo "$2" >>{tmp_path}/made\ncase "$*" in\n{cases}\nesac')
        ended = subprocess.run(
            [str(tree / ".ci" / "run")],
            env={"PATH": str(folder), "CI": "true", "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
        )
        made, installed = tmp_path / "made", tmp_path / "installed"
        asked = made.read_text(encoding="utf-8").split() if made.exists() else []
        return Ran(
            status=ended.returncode,
            lines=ended.stdout.splitlines(),
            errors=ended.stderr,
            made=[target for target in asked if target != BESIDE],
            beside=[target for target in asked[: asked.index("test")] if target == BESIDE] if asked else [],
            installed=installed.read_text(encoding="utf-8") if installed.exists() else "",
        )

    return run


def test_all_green(run: Run) -> None:
    """Environment, lint, tests, scenarios, and what is held against others' programs; the last line is pytest's."""
    ran = run()

    assert (ran.status, ran.lines[-1]) == (0, "7 passed, 1 skipped in 0.50s")
    assert ran.made == STEPS
    assert ran.beside == [BESIDE]
    assert (ran.errors, ran.installed) == ("", "")


@pytest.mark.parametrize("target", [*STEPS[1:], BESIDE])
def test_every_step_is_a_target(target: str) -> None:
    """What is asked of make is in the Makefile."""
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_what_the_steps_print_is_shown(run: Run) -> None:
    """In the order in which it was printed, errors too."""
    ran = run(lint="echo first; echo second >&2")

    assert [line for line in ran.lines if line in ("first", "second", GREEN)] == ["first", "second", GREEN]


@pytest.mark.parametrize("step", ["lint", "scenarios", "conformance", "examples"])
def test_a_red_step_does_not_stop_the_others(run: Run, step: str) -> None:
    """Everything runs, the red one is named, and the status says so."""
    ran = run(**{step: "exit 3"})

    assert ran.made == STEPS
    assert (ran.status, ran.lines[-1]) == (1, "7 passed, 1 skipped in 0.50s")
    assert f"{step} failed with status 3" in ran.errors


def test_what_is_made_beside_a_step_is_no_step(run: Run, tmp_path: Path) -> None:
    """It holds up the tests and not lint; what it prints is not shown, and that it fails is for the tests to say."""
    ran = run(collected=f"echo aside; sleep 0.5; echo late >&2; echo prepared >>{tmp_path}/made; exit 3")

    assert (ran.status, ran.lines[-1], ran.errors) == (0, "7 passed, 1 skipped in 0.50s", "")
    assert "aside" not in ran.lines
    assert ran.made == [*STEPS[:2], "prepared", *STEPS[2:]]


def test_red_tests_are_counted(run: Run) -> None:
    """The last line is pytest's, and the status is not 0."""
    ran = run(test="echo '=== 2 failed, 5 passed in 1.00s (0:00:01) ==='; exit 1")

    assert (ran.status, ran.lines[-1]) == (1, "2 failed, 5 passed in 1.00s (0:00:01)")


def test_tests_that_never_end_count_as_a_failure(run: Run) -> None:
    """A run that died without a summary is not green."""
    ran = run(test="exit 139")

    assert (ran.status, ran.lines[-1]) == (1, "0 passed, 1 failed")


def test_a_process_left_behind_keeps_nobody_waiting(run: Run) -> None:
    """A step ends when its command ends, whatever still holds its output."""
    ran = run(lint="sleep 40 & echo done")

    assert ran.status == 0


@pytest.mark.parametrize("missing", [name for name in WHOLE if name != "make"])
def test_what_is_optional_is_missed_aloud(run: Run, missing: str) -> None:
    """Not root: nothing is installed, the rest runs, and standard error says what is missed."""
    ran = run(has=tuple({*WHOLE} - {missing}))

    assert (ran.status, ran.installed) == (0, "")
    assert "!!! not installed" in ran.errors
    assert "!!! without" in ran.errors


def test_root_installs_what_is_missing(run: Run) -> None:
    """With apt-get, and only what is missing."""
    ran = run(user=0, has=("make", "iptables"))

    assert ran.installed.splitlines() == [
        "-qq update",
        "-qq -y install --no-install-recommends wrk iproute2 redis-server npm",
    ]


def test_nothing_works_without_make(run: Run) -> None:
    """The status and the last line say so."""
    ran = run(has=())

    assert (ran.status, ran.lines[-1]) == (2, "0 passed, 1 failed")


def test_it_can_be_called_as_it_is() -> None:
    """The file in the tree is executable."""
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_a_step_that_cannot_reach_its_registry_is_red(run: Run) -> None:
    """Its sentence is shown."""
    ran = run(examples="echo 'not run: mcp==2.3.0 cannot be installed: no route'; exit 2")

    assert ran.status == 1
    assert "not run: mcp==2.3.0 cannot be installed: no route" in ran.lines
    assert "examples failed with status 2" in ran.errors


def test_bytecode_is_kept(run: Run) -> None:
    """Whatever the environment says: hundreds of processes import the same modules."""
    ran = run(lint='echo "bytecode: ${PYTHONDONTWRITEBYTECODE-kept}"')

    assert "bytecode: kept" in ran.lines
