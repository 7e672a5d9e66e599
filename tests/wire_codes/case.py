"""What one scenario of the table is, and what its answer must look like."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from gateway.contract.codes import FACTS, CallOutcome, ErrorCode, NextAction
from tests.wire_codes.stand import Answer, Stand, standing

PATIENCE_S: Final = 5.0
ERROR: Final = {"code", "message", "outcome", "retryable", "retry_after_s", "next_action", "details"}
NEXT_STEPS: Final[Mapping[NextAction, str]] = {
    NextAction.FIX_ARGUMENTS: r"[Cc]orrect|[Ss]upply|[Rr]emove|[Ss]end|[Cc]all|[Cc]heck|[Rr]ead|[Aa]sk for",
    NextAction.RETRY: r"again|[Rr]etry",
    NextAction.WAIT: r"again|[Ww]ait",
    NextAction.VERIFY: r"[Vv]erify|[Rr]ead|[Ll]ook",
    NextAction.ESCALATE: r"[Ee]scalate|[Oo]perator|payments",
    NextAction.REQUEST_APPROVAL: r"Wait for the decision|[Rr]equest an? (new )?approval",
    NextAction.USE_EXISTING_RESULT: r"[Uu]se|[Rr]ead",
    NextAction.STOP: r"[Ss]top|[Rr]eport|[Dd]o not|[Rr]ead|[Uu]se|not guess",
}
"""What a message must contain so that a model that reads nothing else knows what to do."""

Play = Callable[[Stand], Awaitable[Answer]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """How one code is produced.

    Attributes:
        play: makes what has to come before, and last the call that is answered with the code.
        stand: as for `standing`.
        sent: how many writes the provider must have received in all.
        acts: how many it must have carried out in all; None for a provider that does not count.
        rows: whether the answer belongs to a caller's tool call, and leaves one row.
        next_action, retryable: where the tool decides them and not the code alone.
        says: words that the message must contain.
    """

    play: Play
    manifests: tuple[Mapping[str, Any], ...] = ()
    stand: Mapping[str, Any] = field(default_factory=dict)
    sent: int = 0
    acts: int | None = 0
    rows: bool = True
    next_action: NextAction | None = None
    retryable: bool | None = None
    says: str = ""

    @asynccontextmanager
    async def standing(self, folder: Path) -> AsyncIterator[Stand]:
        """The gateway of this scenario."""
        async with standing(folder, *self.manifests, **self.stand) as stand:
            yield stand


def check_answer(code: ErrorCode, case: Case, answer: Answer) -> None:
    """Status, shape, words and headers of an answer, against the row of its code."""
    facts, envelope = FACTS[code], answer.envelope
    assert envelope.keys() == {"ok", "data", "error", "meta"}
    assert (envelope["ok"], envelope["data"]) == (False, None)
    error = envelope["error"]
    assert error.keys() == ERROR
    assert (error["code"], answer.status) == (code.value, facts.status), error
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    assert error["outcome"] == facts.outcome.value
    assert error["retryable"] is (facts.retryable if case.retryable is None else case.retryable)
    action = facts.next_action if case.next_action is None else case.next_action
    assert error["next_action"] == action.value
    assert re.search(NEXT_STEPS[action], error["message"]), error["message"]
    assert case.says in error["message"], error["message"]
    assert envelope["meta"]["request_id"]
    if answer.status == 503 or facts.retry_after_s is not None:
        assert int(answer.headers["retry-after"]) >= error["retry_after_s"] > 0
    if error["retry_after_s"] is None:
        assert "retry-after" not in answer.headers


def check_effects(code: ErrorCode, case: Case, stand: Stand) -> None:
    """What really arrived, and was done, at the provider."""
    assert len(stand.provider.sent) == case.sent
    if case.acts is not None:
        assert len(stand.provider.acts) == case.acts
    if FACTS[code].outcome is CallOutcome.EXECUTED and case.acts is not None:
        assert case.acts > 0


async def check_row(answer: Answer, stand: Stand) -> None:
    """One row for the envelope, saying the same. Those of reads and of malformed requests come together a little later."""
    request_id, error = answer.envelope["meta"]["request_id"], answer.envelope["error"]
    mine: list[Any] = []
    async with asyncio.timeout(PATIENCE_S):
        while not mine:
            rows = (await stand.get("/v1/executions", limit="1000")).envelope["data"]["executions"]
            mine = [row for row in rows if row["request_id"] == request_id]
    assert [(row["kind"], row["code"], row["outcome"]) for row in mine] == [("call", error["code"], error["outcome"])]
