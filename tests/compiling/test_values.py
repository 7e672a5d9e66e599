"""A value that is written out is the value that it was, but for who fills it."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import pytest

from compiling.modules import chosen
from compiling.values import NotAValueError, written_out
from gateway.contract.changed import changed
from gateway.contract.quick import quick

ROOT = Path(__file__).parent.parent.parent
SOURCE = '''
@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Refund:
    """One refund."""

    order: str
    """Whose."""
    # A reason that stands here.
    paise: int = 0
    notes: tuple[str, ...] = ()
    facts: dict[str, int] = field(default_factory=dict)
    secret: str = field(default="", repr=False, compare=False)

    def doubled(self) -> int:
        return 2 * self.paise


@quick
@dataclass(frozen=True, slots=True)
class Pair:
    left: int
    right: int = 2

    def __post_init__(self) -> None:
        if self.left > self.right:
            raise ValueError("left is larger")


LAST = 29
'''


@pytest.fixture(params=[lambda source, _: source, written_out], ids=["as it stands", "written out"])
def made(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What the module holds."""
    write: Callable[[str, str], str] = request.param
    names: dict[str, Any] = {"quick": quick, "dataclass": dataclass, "field": field, "__name__": "values"}
    exec(compile(write(SOURCE, "values.py"), "values.py", "exec"), names)  # noqa: S102 - to see what it makes
    return names


def test_its_fields_defaults_and_methods_are_the_same(made: dict[str, Any]) -> None:
    """Made by names, with what was not told left at its default."""
    refund = made["Refund"](order="ORD-1", paise=3)
    assert (refund.order, refund.paise, refund.notes, refund.facts, refund.secret) == ("ORD-1", 3, (), {}, "")
    assert refund.doubled() == 6
    assert [each.name for each in fields(refund)] == ["order", "paise", "notes", "facts", "secret"]
    assert repr(refund) == "Refund(order='ORD-1', paise=3, notes=(), facts={})"


def test_it_is_equal_and_replaced_as_before(made: dict[str, Any]) -> None:
    """What does not take part in comparisons still does not; a replaced one is another."""
    kind = made["Refund"]
    refund = kind(order="ORD-1", secret="a")
    assert refund == kind(order="ORD-1", secret="b") != kind(order="ORD-2")
    assert replace(refund, paise=5) == kind(order="ORD-1", paise=5)
    assert hash(made["Pair"](1)) == hash(made["Pair"](1, 2))


def test_each_has_a_container_of_its_own(made: dict[str, Any]) -> None:
    """A default that a factory makes is made for every value."""
    kind = made["Refund"]
    assert kind(order="a").facts is not kind(order="a").facts


def test_names_and_places_are_taken_as_declared(made: dict[str, Any]) -> None:
    """Keyword-only stays keyword-only, positional stays positional."""
    assert made["Pair"](1).right == 2
    with pytest.raises(TypeError):
        made["Refund"]("ORD-1")
    with pytest.raises(TypeError):
        made["Refund"]()


def test_it_still_checks_itself(made: dict[str, Any]) -> None:
    """`__post_init__` is asked when a value is filled."""
    with pytest.raises(ValueError, match="left is larger"):
        made["Pair"](3)


def test_it_is_changed_as_before(made: dict[str, Any]) -> None:
    """`changed` copies field by field, and leaves what checks itself to `replace`."""
    refund = made["Refund"](order="ORD-1", paise=3, secret="a")
    other = changed(refund, paise=4)
    assert (other.order, other.paise, other.secret, refund.paise) == ("ORD-1", 4, "a", 3)
    with pytest.raises(TypeError, match="checks itself"):
        changed(made["Pair"](1), left=2)


def test_the_other_lines_are_as_they_were() -> None:
    """Nothing but the values is written anew."""
    assert (
        written_out("a = 1\n\n\nclass Plain:\n    b: int = 2\n", "x.py") == "a = 1\n\n\nclass Plain:\n    b: int = 2\n"
    )
    assert written_out(SOURCE, "values.py").rstrip().endswith("LAST = 29")


@pytest.mark.parametrize(
    ("head", "complaint"),
    [
        ("@quick\n@dataclass(frozen=True, slots=True)\nclass A(B):", "x.py:3: A has a base"),
        ("@quick\n@dataclass(slots=True)\nclass A:", "x.py:3: A is not a frozen dataclass with slots"),
        ("@quick\nclass A:", "x.py:2: A is not a frozen dataclass with slots"),
    ],
)
def test_what_is_not_known_is_not_guessed(head: str, complaint: str) -> None:
    """A form that this does not know is named, with its line."""
    with pytest.raises(NotAValueError, match=complaint):
        written_out(f"{head}\n    b: int\n", "x.py")


@pytest.mark.parametrize(
    "name", [name for name in chosen(ROOT) if "@quick" in (ROOT / name).read_text(encoding="utf-8")]
)
def test_every_value_of_ours_can_be_written_out(name: str) -> None:
    """No value of a compiled module is in a form that is not known."""
    source = (ROOT / name).read_text(encoding="utf-8")
    told = written_out(source, name)
    compile(told, name, "exec")
    assert "\n@quick\n" not in told
    assert told.count("def __copy__(self)") == source.count("\n@quick\n")
