"""Write the pages that are made from tables: `python -m docs.generate`. A test fails while one is stale."""

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from docs.acceptance import acceptance_page
from docs.example_contexts import EXAMPLES
from docs.operation_states import operations_page
from gateway.contract.codes import FACTS, CallOutcome, CodeFacts, ErrorCode, NextAction
from gateway.stages.feedback.advice import next_action
from gateway.stages.feedback.observation import observe

HERE: Final = Path(__file__).parent
_MADE: Final = "<!-- Made by `python -m docs.generate` from {source}. Change the table, not this page. -->"

_OUTCOMES: Final[Mapping[CallOutcome, str]] = {
    CallOutcome.NOT_EXECUTED: "Not executed: proved never delivered, or proved refused",
    CallOutcome.EXECUTED: "Executed: done, but the result is not in hand",
    CallOutcome.UNKNOWN: "Unknown: it may have been done",
}
_ACTIONS: Final[Mapping[NextAction, str]] = {
    NextAction.FIX_ARGUMENTS: "Correct the call; the same one gets the same answer.",
    NextAction.RETRY: "Make the same call again.",
    NextAction.WAIT: "Make the same call again after `retry_after_s`, or wait for what is under way.",
    NextAction.VERIFY: "Find out with a read, before anything else.",
    NextAction.REQUEST_APPROVAL: "A person must approve this exact action.",
    NextAction.USE_EXISTING_RESULT: "It is done. Read its result; do not repeat it.",
    NextAction.ESCALATE: "Hand it to a person.",
    NextAction.STOP: "Nothing more can be done by this caller.",
}


def errors_page() -> str:
    """Every code with its facts, by what is known of the effect."""
    return "\n".join(_errors()) + "\n"


def _errors() -> Iterator[str]:
    yield "# Error codes"
    yield ""
    yield _MADE.format(source="`gateway/contract/codes.py`")
    yield ""
    yield "An envelope with `ok: false` has one of these in `error.code`. `error.outcome` says what is known of the effect"
    yield "in the world, and the HTTP status follows from it: 424 where something was or may have been done, so that no"
    yield "client and no proxy repeats it by itself; 5xx only where nothing was executed. A code's advice may be made more"
    yield "specific for a tool: a read is never unknown, and without a look-up there is nothing to verify with."
    for outcome, heading in _OUTCOMES.items():
        yield ""
        yield f"## {heading}"
        yield ""
        yield "| code | HTTP | retryable | next action | breaker | what it says |"
        yield "|---|---|---|---|---|---|"
        yield from (_error_row(code, row) for code, row in FACTS.items() if row.outcome is outcome)
    yield ""
    yield "## Next actions"
    yield ""
    yield "| `next_action` | meaning |"
    yield "|---|---|"
    yield from (f"| `{action}` | {meaning} |" for action, meaning in _ACTIONS.items())
    yield ""
    yield "## Notes"
    yield ""
    yield "- `retryable` is about the caller: the same call, unchanged, may be sent again. The gateway's own retries are over by then."
    yield '- `idempotency_in_progress` is unknown, not "not executed": the same operation is under way in another call. A wait'
    yield "  settles it, so it is 409 and retryable; the repeated call joins the first and gets its answer."
    yield "- Other material arguments on an identity that is already done are `idempotency_conflict`, as on an open one."
    yield "  `details.state` tells them apart."
    yield "- `breaker` is what one such attempt tells the circuit breaker: a refusal is health, our own refusals say nothing."
    yield "- Every 503, and 429, has a `Retry-After` header with `retry_after_s` rounded up to whole seconds."


def _error_row(code: ErrorCode, row: CodeFacts) -> str:
    retryable = "yes" if row.retryable else "no"
    return f"| `{code}` | {row.status} | {retryable} | `{row.next_action}` | {row.breaker} | {row.sentence} |"


def observations_page() -> str:
    """Every observation, as the examples bring it out."""
    return "\n".join(_observations()) + "\n"


def _observations() -> Iterator[str]:
    yield "# Observations"
    yield ""
    yield _MADE.format(source="`gateway/stages/feedback/sentences.py` and `docs/example_contexts.py`")
    yield ""
    yield "`error.message` is written as if it were the only sentence the model reads before its next decision: what happened,"
    yield "with codes, amounts and identifiers; what to do next, naming a tool and its arguments where there is one; what was"
    yield "left out (an ellipsis stands for arguments that are not shown). It is made of the gateway's own words and of"
    yield "validated arguments. Sensitive arguments and text from a tool are never in it."
    yield ""
    yield "The action in the examples is a refund of INR 4,250 for order ORD-4471, the read is `lookup_order`, and"
    yield "`notify_customer` is a write that no look-up can verify."
    for code, contexts in EXAMPLES.items():
        yield ""
        yield f"## `{code}`"
        for context in contexts:
            yield ""
            yield f"> {observe(code, context)}"
            yield ">"
            yield f"> next action: `{next_action(code, context)}`"


PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "acceptance.md": acceptance_page,
    "errors.md": errors_page,
    "observations.md": observations_page,
    "operations.md": operations_page,
}


def main() -> None:
    """Write every page."""
    for name, page in PAGES.items():
        (HERE / name).write_text(page(), encoding="utf-8")
        sys.stdout.write(f"docs/{name}\n")


if __name__ == "__main__":
    main()
