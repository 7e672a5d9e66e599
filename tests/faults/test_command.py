import subprocess
import sys
from pathlib import Path

import pytest

from bench.faults.__main__ import text
from bench.faults.catalogue import FAULTS
from bench.faults.run import Result
from bench.faults.unsafe import command_without
from gateway.demo.gateway_process import COMMAND

ROOT = Path(__file__).parents[2]


def faults(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    command = [sys.executable, "-m", "bench.faults", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)


@pytest.mark.slow
def test_the_seed_is_printed_and_a_run_can_be_chosen() -> None:
    """One run of one row, without its controls: 0 violations, exit code 0."""
    ran = faults("--only", "F17", "--seed", "4", "--first", "3", "--runs", "1", "--no-controls")

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.startswith("SEED=4\n")
    assert "1 of 1 as they should be" in ran.stdout


def test_a_violation_comes_with_the_words_that_play_it_again() -> None:
    """Row, number of the run, and what is wrong."""
    [row] = [fault for fault in FAULTS if fault.id == "F17"]
    result = Result(fault=row, runs=range(20), violations={12: ["2 effects of one intention"]})

    assert text(result).splitlines()[0].split()[-2:] == ["20", "1"]
    assert text(result).splitlines()[1].strip() == (
        "WRONG: 2 effects of one intention   (--only F17 --first 12 --runs 1)"
    )


@pytest.mark.parametrize(
    ("without", "wrong", "broken", "expected"),
    [
        (None, [], None, True),
        (None, ["2 effects of one intention"], None, False),
        (None, [], "run 3 did not end", False),
        ("any-writer-wins", ["2 effects of one intention"], None, True),
        ("any-writer-wins", ["an answer after 7.0 s"], None, False),
        ("any-writer-wins", [], None, False),
        ("any-writer-wins", ["2 effects of one intention"], "run 3 did not end", False),
        ("fail-open", ["an answer after 7.0 s"], None, True),
        ("fail-open", [], None, False),
    ],
)
def test_a_control_shows_what_its_protection_prevents(
    *, without: str | None, wrong: list[str], broken: str | None, expected: bool
) -> None:
    """Neither something else that is wrong nor a gateway that does not start; of another row's protection anything will do."""
    [row] = [fault for fault in FAULTS if fault.id == "F17"]
    violations = {3: wrong} if wrong else {}
    result = Result(fault=row, runs=range(20), violations=violations, without=without, broken=broken)

    assert result.as_it_should_be is expected
    assert (broken is not None) == ("BROKEN: run 3 did not end" in text(result))


def test_nothing_taken_out_is_the_product() -> None:
    """The command without a protection is a process of its own."""
    assert command_without(None) == COMMAND
    assert command_without("fail-open")[-2:] == ("bench.faults.unsafe", "fail-open")


@pytest.mark.parametrize("words", [("--only", "F99"), ("--only", "F17,F99"), ("--without", "nothing")])
def test_what_does_not_exist_is_a_usage_error(words: tuple[str, str]) -> None:
    """Exit code 2 and what there is: a row that is not played has not been seen to hold."""
    ran = faults(*words)

    assert ran.returncode == 2
    assert "F10" in ran.stderr or "fail-open" in ran.stderr


def test_the_counts_are_those_of_the_matrix() -> None:
    """As the table in docs/faults.md says them."""
    page = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")

    for fault in FAULTS:
        [row] = [line for line in page.splitlines() if line.startswith(f"| {fault.id} |")]
        assert row.startswith(f"| {fault.id} | {fault.title} | {fault.runs} |")
        counts = row.rstrip(" |").rpartition("| ")[2].split("; ")
        assert [int(count.partition(" of ")[2]) for count in counts] == [it.runs for it in fault.controls.values()]
        assert all(f"`{name}`" in row for name in fault.controls)
