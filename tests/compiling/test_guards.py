"""What is guarded is compiled with its guard inside, and does what it does under the decorator."""

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from compiling.guards import guarded_inside
from gateway.adapters.otel.core import guarded

GUARDED = dedent(
    '''
    class Trace:
        """Doc."""

        def __init__(self, core):
            self._core = core

        @guarded
        def ended(self, code: int, *, late: bool = False) -> None:
            # A reason.
            if late:
                return
            if isinstance(code, BaseException):
                raise code
            self._core.seen.append(10 // code)

        def other(self) -> int:
            return 1  # as it was
    '''
)
OTEL = Path(__file__).parent.parent.parent / "gateway" / "adapters" / "otel"


class Core:
    """What a trace belongs to."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self.faults: list[Exception] = []

    def fault(self, failure: Exception) -> None:
        """Take a fault of the telemetry."""
        self.faults.append(failure)


def end(source: str, code: object, *, late: bool) -> tuple[list[int], list[str], object]:
    """What `ended` does of the class in this source, what is counted of it as a fault, and how it ends."""
    core = Core()
    names: dict[str, Any] = {"guarded": guarded}
    exec(source, names)  # noqa: S102 - the text above
    trace = names["Trace"](core)
    try:
        how = trace.ended(code, late=late) if late else trace.ended(code)
    except BaseException as error:  # noqa: BLE001 - how it ends is what is compared
        how = repr(error)
    return core.seen, [repr(fault) for fault in core.faults], how


@pytest.mark.parametrize(
    ("code", "late", "expected"),
    [
        (5, False, ([2], [], None)),
        (0, True, ([], [], None)),
        (0, False, ([], ["ZeroDivisionError('integer division or modulo by zero')"], None)),
        (ValueError("own"), False, ([], ["ValueError('own')"], None)),
        (KeyboardInterrupt(), False, ([], [], "KeyboardInterrupt()")),
    ],
    ids=repr,
)
def test_it_does_what_it_does_under_the_decorator(code: object, late: bool, expected: object) -> None:  # noqa: FBT001 - a case of the table
    """By position and by name, with an end in the middle of it; a fault is counted, what is no fault goes on."""
    assert end(GUARDED, code, late=late) == end(guarded_inside(GUARDED), code, late=late) == expected


def test_the_rest_is_as_it_was() -> None:
    """To the letter."""
    written = guarded_inside(GUARDED)

    assert "return 1  # as it was\n" in written
    assert "@guarded" not in written
    assert guarded_inside(written) == written


def test_no_guarded_method_is_left_to_the_decorator() -> None:
    """Of any module of the telemetry."""
    sources = [path.read_text(encoding="utf-8") for path in OTEL.glob("*.py")]

    assert sum(source.count("    @guarded\n") for source in sources) >= 10
    assert not any("    @guarded\n" in guarded_inside(source) for source in sources)
