"""`backend.http.refused_when` compiled: a downstream whose successes may say no."""

from typing import Final

from gateway.manifest.declared import ANSWER
from gateway.manifest.notes import Notes
from gateway.manifest.ports import Expression, ExpressionEngine
from gateway.manifest.yaml_events import Path

_PATH: Final[Path] = ("backend", "http", "refused_when")


def refused_when(source: str | None, engine: ExpressionEngine, notes: Notes) -> Expression | None:
    """The expression; None when there is none, or a complaint."""
    if source is None:
        return None
    found = engine.compile(source, ANSWER, boolean=True)
    if isinstance(found, tuple):
        notes.expression(_PATH, found)
        return None
    if not isinstance(engine.compile(source, {}, boolean=True), tuple):
        message = (
            "this does not look at `data`: every success would be a refusal, or none; compare a member, or remove it"
        )
        notes.error(_PATH, "no-effect", message)
    return found
