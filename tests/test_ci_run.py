"""`.ci/run` as a clean machine sees it: what is installed, what runs, what the last line and the status say.

`make` and `apt-get` are fakes: programs in a folder that is the whole PATH.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NEEDED = ("bash", "dirname", "mktemp", "rm", "timeout", "tail", "sed", "sh", "sleep", "touch", "cat", "nice")
GREEN = "===== 7 passed, 1 skipped in 0.50s ====="
WHOLE = ("make", "wrk", "ip", "iptables", "redis-server", "npm", "gcc", "cc")
"""What a machine has on which nothing is missed."""
DEBIANS = " python3-dev" if sys.base_prefix == "/usr" else ""  # Another brings its own headers.
STEPS = [".venv/.installed", "lint", "test", "scenarios", "conformance", "examples", "bench-gate"]
TOGETHER = STEPS[3:6]
"""Run beside each other, after the tests."""
GATE = STEPS[-1]
BESIDE = "collected"
"""Made while another step runs, and done before the tests."""
COMPILED = "compiled"
"""Made while the other steps run, and done before the gate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What came of it."""

    status: int
    lines: list[str]
    errors: str
    made: list[str]
    """The targets that were asked of make, in order, but for what is made beside a step; as listed where they run together."""
    beside: list[str]
    """What had been made beside a step when the tests began."""
    compiled: bool
    """Whether the tree that the gate measures was asked for, before the gate."""
    installed: str


Run = Callable[..., Ran]


def program(folder: Path, name: str, script: str) -> None:
    """Put a program on the PATH."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A clean machine."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    def prepare(
        self, *, user: int = 1000, has: tuple[str, ...] = WHOLE, broken: tuple[str, ...] = (), targets: dict[str, str]
    ) -> None:
        """Install these programs, of which some fail, and `make TARGET` does what the test says."""
        programs, tree = self.folder / "bin", self.folder / "tree"
        (tree / ".ci").mkdir(parents=True)
        (tree / "bench" / "scenarios").mkdir(parents=True)
        programs.mkdir()
        shutil.copy(ROOT / ".ci" / "run", tree / ".ci" / "run")
        for name in NEEDED:
            found = shutil.which(name)
            assert found is not None
            (programs / name).symlink_to(found)
        (programs / "python3").symlink_to(sys.executable)
        program(programs, "id", f"echo {user}")
        program(programs, "apt-get", f'echo "$@" >>{self.folder}/installed')
        program(programs, "renice", f"touch {self.folder}/hurried")
        for name in has:
            program(programs, name, f"exit {int(name in broken)}")
        cases = "\n".join(
            f"*' {target}') {script};;" for target, script in {"test": f"echo '{GREEN}'", **targets}.items()
        )
        if "make" in has:
            program(programs, "make", f'echo "$2" >>{self.folder}/made\ncase "$*" in\n{cases}\nesac')

    def start(self) -> subprocess.Popen[str]:
        """Call the script."""
        return subprocess.Popen(
            [str(self.folder / "tree" / ".ci" / "run")],
            env={"PATH": str(self.folder / "bin"), "CI": "true", "PYTHONDONTWRITEBYTECODE": "1", **self.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Nothing is installed yet."""
    return Machine(folder=tmp_path)


@pytest.fixture
def run(machine: Machine) -> Run:
    """What comes of it on a machine that has this, where `make TARGET` does what the test says."""

    def run(*, user: int = 1000, has: tuple[str, ...] = WHOLE, broken: tuple[str, ...] = (), **targets: str) -> Ran:
        machine.prepare(user=user, has=has, broken=broken, targets=targets)
        with machine.start() as process:
            output, errors = process.communicate(timeout=50)
        made, installed = machine.folder / "made", machine.folder / "installed"
        asked = made.read_text(encoding="utf-8").split() if made.exists() else []
        together = iter(sorted((target for target in asked if target in TOGETHER), key=TOGETHER.index))
        ordered = [next(together) if target in TOGETHER else target for target in asked]
        return Ran(
            status=process.returncode,
            lines=output.splitlines(),
            errors=errors,
            made=[target for target in ordered if target not in (BESIDE, COMPILED)],
            beside=[target for target in asked[: asked.index("test")] if target == BESIDE] if asked else [],
            compiled=COMPILED in asked[: asked.index(GATE) if GATE in asked else None],
            installed=installed.read_text(encoding="utf-8") if installed.exists() else "",
        )

    return run


def test_all_green(run: Run) -> None:
    """Environment, lint, tests, scenarios, and what is held against others' programs; the last line is pytest's."""
    ran = run()

    assert (ran.status, ran.lines[-1]) == (0, "7 passed, 1 skipped in 0.50s")
    assert ran.made == STEPS
    assert (ran.beside, ran.compiled) == ([BESIDE], True)
    assert (ran.errors, ran.installed) == ("", "")


@pytest.mark.parametrize("target", [*STEPS[1:], BESIDE, COMPILED])
def test_every_step_is_a_target(target: str) -> None:
    """What is asked of make is in the Makefile."""
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_what_the_steps_print_is_shown(run: Run) -> None:
    """In the order in which it was printed, errors too."""
    ran = run(lint="echo first; echo second >&2")

    assert [line for line in ran.lines if line in ("first", "second", GREEN)] == ["first", "second", GREEN]


@pytest.mark.parametrize("step", ["lint", "scenarios", "conformance", "examples", GATE])
def test_a_red_step_does_not_stop_the_others(run: Run, step: str) -> None:
    """Everything runs, the red one is named, and the status says so."""
    ran = run(**{step: "exit 3"})

    assert ran.made == STEPS
    assert (ran.status, ran.lines[-1]) == (1, "7 passed, 1 skipped in 0.50s")
    assert f"{step.removeprefix('bench-')} failed with status 3" in ran.errors


def test_what_mostly_waits_waits_together(run: Run, tmp_path: Path) -> None:
    """Scenarios, conformance and examples run beside each other, and what they print is shown one after the other."""
    for_all = " && ".join(f"[ -e {tmp_path}/{step} ]" for step in TOGETHER)
    ran = run(
        **{
            step: f"touch {tmp_path}/{step}; until {for_all}; do sleep 0.05; done; echo {step} is done"
            for step in TOGETHER
        }
    )

    assert ran.status == 0
    shown = [line for line in ran.lines if line.endswith(" is done") or line.removeprefix("=== ") in TOGETHER]
    assert shown == [line for step in TOGETHER for line in (f"=== {step}", f"{step} is done")]


def test_what_is_made_beside_a_step_is_no_step(run: Run, tmp_path: Path) -> None:
    """It holds up the tests and not lint; what it prints is not shown, and that it fails is for the tests to say."""
    ran = run(collected=f"echo aside; sleep 0.5; echo late >&2; echo prepared >>{tmp_path}/made; exit 3")

    assert (ran.status, ran.lines[-1], ran.errors) == (0, "7 passed, 1 skipped in 0.50s", "")
    assert "aside" not in ran.lines
    assert ran.made == [*STEPS[:2], "prepared", *STEPS[2:]]


def test_the_gate_waits_for_what_it_measures(run: Run, tmp_path: Path) -> None:
    """That is compiled quickly, at the lowest priority, is not shown, and makes way for none when all the others are done."""
    ran = run(
        compiled=f"until [ -e {tmp_path}/hurried ]; do sleep 0.1; done; echo aside; (nice; echo $OPT_LEVEL) >>{tmp_path}/made"
    )

    assert (ran.status, ran.errors) == (0, "")
    assert ran.made == [*STEPS[:-1], "19", "g", GATE]
    assert "aside" not in ran.lines


def test_there_is_no_gate_over_what_was_not_compiled(run: Run) -> None:
    """It is red, the compiler's last lines are shown, and the other steps are what they are."""
    ran = run(compiled="echo 'x.c:1: error: no such thing'; exit 2")

    assert (ran.status, ran.lines[-1]) == (1, "7 passed, 1 skipped in 0.50s")
    assert ran.made == STEPS[:-1]
    assert "x.c:1: error: no such thing" in ran.lines
    assert "!!! gate failed: nothing was compiled that it could measure (status 2)" in ran.errors
    assert "!!! not green: gate" in ran.errors


def test_a_gate_for_which_there_is_no_time_is_not_run(run: Run, machine: Machine, tmp_path: Path) -> None:
    """The other steps are what they are, what is still being compiled is ended, and standard error says so."""
    machine.environment["GATE_BY_S"] = "0"
    os.mkfifo(tmp_path / "held")
    with open(os.open(tmp_path / "held", os.O_RDONLY | os.O_NONBLOCK), encoding="utf-8") as held:  # noqa: PTH123 - a descriptor
        ran = run(compiled=f"exec 3>{tmp_path}/held; sleep 45; echo late >&3")
        os.set_blocking(held.fileno(), True)
        assert held.read() == ""

    assert (ran.status, ran.made) == (0, STEPS[:-1])
    assert "the time is up for the benchmark's gate" in ran.errors


@pytest.mark.parametrize("missing", ["gcc", "cc", "wrk"])
def test_without_a_compiler_or_load_there_is_no_gate(run: Run, missing: str) -> None:
    """Nothing is compiled for it, and standard error says that it did not run."""
    ran = run(has=tuple({*WHOLE} - {missing}))

    assert (ran.made, ran.compiled) == (STEPS[:-1], False)
    assert "the benchmark's gate is not run" in ran.errors


def test_headers_that_are_missing_are_missed(run: Run) -> None:
    """A compiler that does not find those of Python and of C compiles nothing."""
    ran = run(broken=("cc",))

    assert (ran.made, ran.compiled, "without gcc and the headers" in ran.errors) == (STEPS[:-1], False, True)


def test_what_is_compiled_does_not_outlive_the_run(machine: Machine, tmp_path: Path) -> None:
    """A run that is ended ends it."""
    os.mkfifo(tmp_path / "held")
    holding = f"exec 3>{tmp_path}/held; echo up >&3; sleep 40; echo late >&3"
    machine.prepare(targets={"lint": "sleep 45", "compiled": holding})
    with machine.start() as process, (tmp_path / "held").open(encoding="utf-8") as held:
        assert held.readline() == "up\n"
        process.terminate()
        assert held.read() == ""
        process.communicate(timeout=50)

    assert process.returncode != 0


def test_red_tests_are_counted(run: Run) -> None:
    """The last line is pytest's, and the status is not 0."""
    ran = run(test="echo '=== 2 failed, 5 passed in 1.00s (0:00:01) ==='; exit 1")

    assert (ran.status, ran.lines[-1]) == (1, "2 failed, 5 passed in 1.00s (0:00:01)")


def test_tests_that_never_end_count_as_a_failure(run: Run) -> None:
    """A run that died without a summary is not green."""
    ran = run(test="exit 139")

    assert (ran.status, ran.lines[-1]) == (1, "0 passed, 1 failed")


def test_a_process_left_behind_keeps_nobody_waiting(run: Run, tmp_path: Path) -> None:
    """A step ends when its command ends, whatever still holds its output."""
    os.mkfifo(tmp_path / "held")
    ran = run(lint=f"cat {tmp_path}/held & echo done")

    assert ran.status == 0
    # It is there to this moment, or this would raise; without a writer any more it ends.
    os.close(os.open(tmp_path / "held", os.O_WRONLY | os.O_NONBLOCK))


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
        f"-qq -y install --no-install-recommends wrk iproute2 redis-server npm gcc libc6-dev{DEBIANS}",
    ]


def test_debians_python_is_given_its_headers(machine: Machine) -> None:
    """Which it does not bring, as others do."""
    machine.prepare(user=0, broken=("cc",), targets={})
    (machine.folder / "bin" / "python3").unlink()
    asked = 'case "$2" in *base_prefix*) exit 0;; esac'
    program(machine.folder / "bin", "python3", f'{asked}\nexec {sys.executable} "$@"')
    with machine.start() as process:
        process.communicate(timeout=50)

    installed = (machine.folder / "installed").read_text(encoding="utf-8")
    assert installed.endswith(" install --no-install-recommends gcc libc6-dev python3-dev\n")


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
