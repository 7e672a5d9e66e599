"""A quick value differs from a frozen dataclass in one thing: who refuses that a field is set."""

import copy
import inspect
import pickle
from dataclasses import dataclass, field, fields, replace

import pytest

from gateway.contract.envelope import Envelope, Meta
from gateway.contract.quick import quick


@quick
@dataclass(frozen=True, slots=True)
class Quick:
    """One of each kind of field."""

    name: str
    number: int = 3
    parts: list[str] = field(default_factory=list)
    mark: str | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class Plain:
    """The same, as the standard library makes it."""

    name: str
    number: int = 3
    parts: list[str] = field(default_factory=list)
    mark: str | None = field(default=None, kw_only=True)


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Checks itself."""

    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError("low is high")


def values(of: object) -> list[object]:
    """What is in it, in order."""
    return [getattr(of, each.name) for each in fields(of)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "named"),
    [(("a",), {}), (("a", 4), {}), ((), {"name": "a", "parts": ["b"]}), (("a", 4, ["b"]), {"mark": "m"})],
)
def test_it_is_filled_as_the_standard_library_fills_it(given: tuple[object, ...], named: dict[str, object]) -> None:
    """Positions, names, defaults and factories mean the same."""
    assert values(Quick(*given, **named)) == values(Plain(*given, **named))  # type: ignore[arg-type]


def test_each_value_has_a_list_of_its_own() -> None:
    """A default that is made is made anew."""
    assert Quick("a").parts is not Quick("b").parts


def test_it_is_frozen_for_mypy() -> None:
    """No line of ours sets a field: mypy refuses each, and an ignore that it does not need. None can be added at all."""

    def set_one(value: Quick) -> None:
        value.name = "b"  # type: ignore[misc]

    assert callable(set_one)
    with pytest.raises(AttributeError):
        Quick("a").other = 1  # type: ignore[attr-defined]


def test_it_says_what_it_is() -> None:
    """Type, equality, hash and repr are the class's own."""
    value = Meta(request_id="r")
    assert type(value) is Meta
    assert value == Meta(request_id="r")
    assert hash(value) == hash(Meta(request_id="r"))
    assert repr(Quick("a")) == "Quick(name='a', number=3, parts=[], mark=None)"


def test_it_can_be_copied_replaced_and_pickled() -> None:
    """What works on dataclasses works on it."""
    value = Quick("a", mark="m")
    assert replace(value, name="b") == Quick("b", mark="m")
    assert copy.copy(value) == copy.deepcopy(value) == value
    assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301 - our own bytes


def test_wrong_arguments_are_refused() -> None:
    """A missing or a misspelt field is an error, as ever."""
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'name'"):
        Quick()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'nmae'"):
        Quick(nmae="a")  # type: ignore[call-arg]


def test_its_own_check_runs() -> None:
    """`__post_init__` sees a whole value, and can refuse it."""
    assert Checked(low=1, high=2).high == 2
    with pytest.raises(ValueError, match="low is high"):
        Checked(low=2, high=1)
    with pytest.raises(ValueError, match="an envelope is ok, or it has an error"):
        Envelope(ok=False, data=None, error=None, meta=Meta(request_id="r"))


def test_its_signature_can_be_read() -> None:
    """Names, kinds and types stand where a reader and a tool look for them."""
    parameters = inspect.signature(Quick).parameters
    assert list(parameters) == ["name", "number", "parts", "mark"]
    assert parameters["mark"].kind is inspect.Parameter.KEYWORD_ONLY
    assert parameters["name"].annotation is str
