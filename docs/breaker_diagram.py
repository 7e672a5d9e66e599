"""Draw the diagram of `docs/breaker.md`: `python -m docs.breaker_diagram`. A test fails while it is stale."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from gateway.stages.execute.breaker.breaker import TRANSITIONS, Event

PAGE: Final = Path(__file__).parent / "breaker.md"
BEGIN: Final = (
    "<!-- Made by `python -m docs.breaker_diagram` from gateway/stages/execute/breaker/breaker.py. "
    "Change the table, not this. -->"
)
END: Final = "<!-- End of what is made. -->"

_MEANINGS: Final[Mapping[Event, str]] = {
    Event.TRIPPED: "too many failures",
    Event.PROBE_LEASED: "a call goes out as the probe",
    Event.PROBE_SUCCEEDED: "the probe was answered",
    Event.PROBE_FAILED: "the probe failed",
    Event.PROBE_RETURNED: "the probe said nothing",
    Event.FORCED_OPEN: "an operator opens",
    Event.FORCED_CLOSED: "an operator closes",
}


def diagram() -> str:
    """The transitions as a Mermaid state diagram."""
    return "\n".join([BEGIN, "", "```mermaid", "stateDiagram-v2", *_arrows(), "```", "", END])


def with_diagram(page: str) -> str:
    """The page with its diagram drawn anew."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + diagram() + after


def _arrows() -> Iterator[str]:
    yield "    [*] --> closed"
    for state, row in TRANSITIONS.items():
        for event, to in row.items():
            yield f"    {state} --> {to}: {_MEANINGS[event]}"


if __name__ == "__main__":
    PAGE.write_text(with_diagram(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
