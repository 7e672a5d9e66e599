"""Whether an answer is news, or what a cache on the way had kept (RFC 9111)."""

from dataclasses import replace
from typing import Final

from gateway.manifest.templates import RenderedRequest
from gateway.stages.execute.attempt.exchange import Answer

# `no-cache`: answer from what was kept only after asking the origin; `no-store`: keep nothing of this.
_ASKED_ANEW: Final = ("cache-control", "no-cache, no-store")


def anew(request: RenderedRequest) -> RenderedRequest:
    """The request as it is sent where only the origin's own answer of now will do."""
    name, _ = _ASKED_ANEW
    others = (it for it in request.headers if it[0].lower() != name)
    return replace(request, headers=(*others, _ASKED_ANEW))


def is_older(answer: Answer, than_s: float) -> bool:
    """Whether a cache says (`Age`, whole seconds) that it had the answer longer than so many seconds ago.

    A cache that hides its part cannot be told from the origin. `Date` is no help: it is by the origin's clock.
    """
    ages = [text.strip() for name, value in answer.headers if name == "age" for text in value.split(",")]
    return any(text.isascii() and text.isdigit() and (len(text) > 9 or int(text) > than_s) for text in ages)
