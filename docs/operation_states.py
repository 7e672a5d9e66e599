"""`docs/operations.md`: the states of an operation, and what settles it. Made by `python -m docs.generate`."""

from collections.abc import Iterator, Mapping
from typing import Final

from gateway.contract.requests import SettledAs
from gateway.fronts.http.questions import MAX_EVIDENCE
from gateway.pipeline.questions import EVENTS
from gateway.stages.execute.operation.record import State
from gateway.stages.execute.operation.table import TRANSITIONS

MEANINGS: Final[Mapping[State, str]] = {
    State.FREE: "Nobody owns it and nothing of it is in the world: the same call carries it out.",
    State.CLAIMED: "A call owns it and has sent nothing yet.",
    State.SENT: "A call owns it, and its request may have left.",
    State.LISTENING: "Its caller was told *unknown*; the gateway still listens and may yet hear the answer.",
    State.UNKNOWN: "Nobody listens any more. It does not lapse: only evidence or a person ends it.",
    State.DONE: "It was carried out: the same call gets the stored result.",
    State.REFUSED: "The service refused it: the same call gets that refusal while `identity.refusal_ttl` lasts.",
    State.FROZEN: "There is evidence of more than one effect, or evidence that contradicts itself: a person must look.",
}
SETTLEMENTS: Final[Mapping[SettledAs, str]] = {
    SettledAs.EXECUTED: "It was carried out. The same call gets `result`; without one, `done_result_lost` where the tool declares its result.",
    SettledAs.NOT_EXECUTED: "It was not, and nothing of it can come any more: the same call is carried out.",
    SettledAs.REFUSED: "It was not: the service said no, and the same call is told so.",
}


def operations_page() -> str:
    """The page, with its tables made from those that the gateway walks."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Operations"
    yield ""
    yield (
        "<!-- Made by `python -m docs.generate` from `gateway/stages/execute/operation/table.py` and "
        "`docs/operation_states.py`. Change these, not this page. -->"
    )
    yield ""
    yield "An operation is one intended effect and every attempt at it: calls that the manifest takes for the same action meet"
    yield "in one. `oncegate operations list` and `GET /v1/operations` list them, `oncegate operations show ID` and"
    yield "`GET /v1/operations/{id}` show one."
    yield ""
    yield "## States"
    yield ""
    yield "| state | means | may become | an operator settles it as |"
    yield "|---|---|---|---|"
    yield from map(_state_row, State)
    yield ""
    yield f"`--state` and `?state=` take these names; `{State.UNKNOWN}` finds `{State.LISTENING}`, too. An operation is shown as"
    yield f"`{State.UNKNOWN}` with `listening: true` while it is `{State.LISTENING}`. When retention or `oncegate operations forget`"
    yield "drops what it stores of arguments and result, `tombstone` is true and its state stays."
    yield ""
    yield "## Settling"
    yield ""
    yield "What stays in doubt is first looked up: `oncegate operations reconcile ID` asks by the manifest's means. Where these do"
    yield "not tell, whoever holds `operations:settle` looks at the provider, by the `arguments` that the view of one operation"
    yield "shows, and says how it ended:"
    yield ""
    yield "```console"
    yield '$ oncegate operations settle 01J9ZK… --executed --evidence "refund R-77 in the provider\'s console" \\'
    yield '    --result \'{"refund_id": "R-77"}\''
    yield "```"
    yield ""
    yield "which is `POST /v1/operations/{id}/settle` with this body:"
    yield ""
    yield "| member | | |"
    yield "|---|---|---|"
    yield f"| `settled_as` | required | {', '.join(f'`{it}`' for it in SettledAs)} |"
    yield f"| `evidence` | required | What the word rests on, in 1 to {MAX_EVIDENCE:,} characters of your own; it is kept. |"
    yield (
        f"| `result` | with `{SettledAs.EXECUTED}` only | As the tool would have given it. One that does not fit the "
        "manifest's `result` is `invalid_settlement`, and settles nothing. |"
    )
    yield ""
    yield "| `settled_as` | on the command line | means |"
    yield "|---|---|---|"
    yield from (f"| `{it}` | `--{it.value.replace('_', '-')}` | {means} |" for it, means in SETTLEMENTS.items())
    yield ""
    yield "The operation then says `settled_by` (`operator:` and the subject), `settled_at` and `evidence`, and an execution row is"
    yield "kept. A settlement stands: somebody may have acted on it already. A late answer that proves the contrary is believed"
    yield "all the same, and freezes the operation where two effects may have come of it."


def _state_row(state: State) -> str:
    row = TRANSITIONS[state]
    reached = {cell.to for cell in row.values()}
    if any(cell.joins for cell in row.values()):
        reached.add(State.UNKNOWN)
    becomes = ", ".join(f"`{it}`" for it in State if it in reached and it is not state)
    words = ", ".join(f"`{it}`" for it, event in EVENTS.items() if event in row)
    return f"| `{state}` | {MEANINGS[state]} | {becomes or '-'} | {words or '-'} |"
