"""The page about the breaker shows the breaker."""

from docs.breaker_diagram import PAGE, diagram, with_diagram
from gateway.stages.execute.breaker.breaker import TRANSITIONS


def test_the_diagram_is_not_stale() -> None:
    """Otherwise: `python -m docs.breaker_diagram`."""
    page = PAGE.read_text(encoding="utf-8")

    assert with_diagram(page) == page


def test_every_transition_is_drawn() -> None:
    """One arrow for each cell of the table, and one into the first state."""
    arrows = [line for line in diagram().splitlines() if line.startswith("    ")]

    assert len(arrows) == 1 + sum(len(row) for row in TRANSITIONS.values())
