"""The client matrix as a command; its rows are held to `docs/mcp.md` by the test of that page."""

import re
from pathlib import Path

import pytest

from bench.clients.__main__ import Cell, line, main
from bench.clients.catalogue import ENVIRONMENTS, STACKS

FOLDER = Path(__file__).resolve().parents[2] / "bench" / "clients" / "stacks"


def test_every_client_has_its_script_and_its_environment() -> None:
    """And no script is left over."""
    scripts = {path.stem for path in FOLDER.glob("*.py")} - {"persistence"}

    assert {stack.script for stack in STACKS} == scripts
    assert {stack.environment for stack in STACKS} == set(ENVIRONMENTS)


@pytest.mark.parametrize("requirement", [each for wanted in ENVIRONMENTS.values() for each in wanted])
def test_versions_are_pinned(requirement: str) -> None:
    """A row says which version it is about."""
    assert re.fullmatch(r"[a-z0-9-]+(\[[a-z]+\])?==[0-9.]+", requirement)


@pytest.mark.parametrize("stack", STACKS, ids=lambda stack: stack.script)
def test_titles_name_the_version(stack: object) -> None:
    """That of the environment."""
    chosen = next(each for each in STACKS if each is stack)

    name, _, version = ENVIRONMENTS[chosen.environment][0].partition("==")
    assert f"{name.partition('[')[0]} {version}" in chosen.title


def test_a_cell_is_a_row() -> None:
    """What cannot be had without the gateway is left empty."""
    bridged = next(stack for stack in STACKS if stack.bridged)
    cell = Cell(stack=bridged, scenario="S1", alone=None, without=None, through=1, told="the result")

    assert line(cell) == f"| {bridged.title} | S1 | - | - | **1** | the result |"
    assert cell.is_right


def test_an_unknown_client_is_a_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is installed."""
    with pytest.raises(SystemExit) as left:
        main(["--only", "carrier-pigeon"])

    assert left.value.code == 2
    assert "no client carrier-pigeon" in capsys.readouterr().err


def test_what_ci_runs_is_chosen_by_words_of_this_command(capsys: pytest.CaptureFixture[str]) -> None:
    """The target `clients-once` is a use of it, and leaves the large ones out."""
    text = (FOLDER.parents[2] / "Makefile").read_text(encoding="utf-8")
    found = re.search(r"^clients-once:.*\n\t@\$\(BIN\)/python -m bench.clients (.*)$", text, re.MULTILINE)
    assert found is not None

    with pytest.raises(SystemExit):
        main([*found[1].split(), "--only", ",".join(stack.script for stack in STACKS if stack.large)])

    assert "there is no client crew" in capsys.readouterr().err
