"""What is wrong with a run: the provider's ledger on one side, everything that callers were told on the other."""

from collections.abc import Iterable, Sequence

from bench.faults.client import Answer, Line, Refund
from bench.scenarios.target import Kind

SAYS_NOTHING_WAS_DONE = frozenset({Kind.NOT_EXECUTED, Kind.TURNED_AWAY})
RESULT_KNOWN = frozenset({Kind.DONE, Kind.EXECUTED})


def judge(refund: Refund, answers: Sequence[Answer], ledger: Sequence[str]) -> list[str]:
    """Effects, results and denials of one intention: invariants I1, I5, I6 and I7."""
    wrong = []
    if len(ledger) > 1:
        wrong.append(f"{refund.order} {refund.tool}: {len(ledger)} effects of one intention")
    results = {answer.told.refund_id for answer in answers if answer.told.kind is Kind.DONE}
    wrong += [
        f"{refund.order} {refund.tool}: told of {result}, which is not in the ledger"
        for result in results
        if result not in ledger
    ]
    if ledger and answers and all(answer.told.kind in SAYS_NOTHING_WAS_DONE for answer in answers):
        wrong.append(f"{refund.order} {refund.tool}: everybody was told that nothing was done, and it was")
    wrong += [
        f"{refund.order} {refund.tool}: no answer, {answer.line}"
        for answer in answers
        if answer.line is not Line.WHOLE and answer.line is not Line.REFUSED
    ]
    return wrong


def late(answers: Iterable[Answer], *, limit_s: float) -> list[str]:
    """Answers that outlasted the caller's deadline: I4."""
    return [f"an answer after {answer.took_s:.1f} s ({answer.told})" for answer in answers if answer.took_s > limit_s]


def unsettled(refund: Refund, last: Answer, allowed: frozenset[Kind] = RESULT_KNOWN) -> list[str]:
    """The last answer, when all is well again, must be one of these: I2."""
    if last.told.kind in allowed:
        return []
    return [f"{refund.order} {refund.tool}: still told {last.told} when all is well again"]


def without_retry_after(answers: Iterable[Answer]) -> list[str]:
    """Errors that do not say when to come back, and calls that got no answer."""
    return [
        f"{answer.line}: {answer.status} {answer.told} without Retry-After"
        for answer in answers
        if answer.line is not Line.REFUSED and answer.told.kind is not Kind.DONE and answer.retry_after_s is None
    ]
