"""What is guarded is compiled with its guard inside."""

from pathlib import Path
from textwrap import dedent
from typing import Any

from compiling.guards import guarded_inside

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


def trace(core: Core) -> Any:
    """One of the class above, written with its guard inside."""
    names: dict[str, Any] = {}
    exec(guarded_inside(GUARDED), names)  # noqa: S102 - the text above
    return names["Trace"](core)


def test_what_a_guarded_method_does_it_does() -> None:
    """With its arguments, by position and by name, and with an end in the middle of it."""
    core = Core()

    trace(core).ended(5)
    trace(core).ended(0, late=True)

    assert (core.seen, core.faults) == ([2], [])


def test_what_it_raises_goes_no_further() -> None:
    """As under the decorator."""
    core = Core()

    trace(core).ended(0)

    assert [type(it) for it in core.faults] == [ZeroDivisionError]


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
