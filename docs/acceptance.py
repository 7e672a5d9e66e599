"""The page that shows which test proves which id and which scenario; `python -m docs.generate` writes it."""

import functools
import re
import symtable
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from docs.acceptance_list import PROMISES
from docs.acceptance_scenarios import SCENARIOS

_Told = TypeVar("_Told")
_ROOT: Final = Path(__file__).parent.parent
_NAMED: Final = re.compile(r"test_((?:[LAXT]\d\d_)+)")
_SCENARIO: Final = re.compile(r"_scenario_((?:\d+_)+)")
_GROUPS: Final[Mapping[str, str]] = {
    "L": "The loop",
    "A": "Execution, as the loop sees it",
    "X": "What both documents imply",
    "T": "Traps in their code",
}


@dataclass(frozen=True, slots=True, order=True)
class Proof:
    """One test that carries ids. `path` is below the repository."""

    path: str
    name: str


def ids_of(name: str) -> tuple[str, ...]:
    """The ids a test's name begins with."""
    found = _NAMED.match(name)
    return () if found is None else tuple(found.group(1).strip("_").split("_"))


def scenarios_of(name: str) -> tuple[int, ...]:
    """The scenarios that a test's name tells, wherever they stand in it."""
    found = _SCENARIO.search(name)
    return () if found is None else tuple(map(int, found.group(1).strip("_").split("_")))


def proofs(root: Path = _ROOT) -> dict[str, list[Proof]]:
    """Tests by id, in the order of their files."""
    return _proofs(root, ids_of)


def scenario_proofs(root: Path = _ROOT) -> dict[int, list[Proof]]:
    """Tests by the number of their scenario, in the order of their files."""
    return _proofs(root, scenarios_of)


def _proofs(root: Path, told_by: Callable[[str], tuple[_Told, ...]]) -> dict[_Told, list[Proof]]:
    by_id: dict[_Told, list[Proof]] = {}
    for proof in _read(root):
        for each in told_by(proof.name):
            by_id.setdefault(each, []).append(proof)
    return by_id


def missing(found: Iterable[str]) -> list[str]:
    """Ids of the list that no test carries."""
    there = set(found)
    return [each for each in PROMISES if each not in there]


def unknown(found: Iterable[str]) -> list[str]:
    """Ids that tests carry and the list does not have."""
    return sorted(set(found) - set(PROMISES))


def missing_scenarios(found: Iterable[int]) -> list[int]:
    """Scenarios that no test names."""
    there = set(found)
    return [each for each in SCENARIOS if each not in there]


def unknown_scenarios(found: Iterable[int]) -> list[int]:
    """Numbers that tests name and the list does not have."""
    return sorted(set(found) - set(SCENARIOS))


def acceptance_page(root: Path = _ROOT) -> str:
    """Every id and every scenario, what it promises, and the tests that prove it."""
    return "\n".join([*_page(proofs(root)), *_scenarios(scenario_proofs(root))]) + "\n"


def _page(by_id: Mapping[str, list[Proof]]) -> Iterator[str]:
    yield "# Acceptance list of the loop"
    yield ""
    yield "<!-- Made by `python -m docs.generate` from two tables beside it and the names of tests. -->"
    yield ""
    yield "A test carries the ids it proves at the beginning of its name: `test_L57_L58_…`. An id without a test fails the build."
    for letter, heading in _GROUPS.items():
        yield ""
        yield f"## {heading}"
        yield ""
        yield "| id | promise | tests |"
        yield "|---|---|---|"
        for each, words in PROMISES.items():
            if each.startswith(letter):
                yield f"| {each} | {words} | {_links(by_id.get(each, []))} |"


def _scenarios(by_number: Mapping[int, list[Proof]]) -> Iterator[str]:
    yield ""
    yield "## Scenarios"
    yield ""
    yield "Each is a way in which another loop lost an action or made it twice. A test has the numbers in its name:"
    yield "`test_…_scenario_5_10_…`. A number without a test fails the build."
    yield "`make clients` shows scenario 18 for clients of others; it installs them, so it is no test."
    yield ""
    yield "| number | what ours does | tests |"
    yield "|---|---|---|"
    for number, words in SCENARIOS.items():
        yield f"| {number} | {words} | {_links(by_number.get(number, []))} |"


def _links(tests: Iterable[Proof]) -> str:
    links = [f"[`{proof.name}`](../{proof.path})" for proof in tests]
    return "<br>".join(links) or "**none**"


@functools.cache
def _read(root: Path) -> tuple[Proof, ...]:
    """Every test below a root, in the order of their files; read once, as there are hundreds of files."""
    files = sorted((root / "tests").rglob("test_*.py"))
    return tuple(Proof(path.relative_to(root).as_posix(), name) for path in files for name in _tests(path))


def _tests(path: Path) -> Iterator[str]:
    """Names of test functions, whether they stand alone or in a class."""
    # Not `ast`: CPython 3.11.7 was seen to fail at making its nodes, with a SystemError.
    yield from _tests_in(symtable.symtable(path.read_text(encoding="utf-8"), str(path), "exec"))


def _tests_in(table: symtable.SymbolTable) -> Iterator[str]:
    for child in table.get_children():
        if child.get_type() == "class":
            yield from _tests_in(child)
        elif child.get_name().startswith("test_"):
            yield child.get_name()
