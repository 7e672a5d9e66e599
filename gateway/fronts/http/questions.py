"""Query strings and small bodies, turned into the questions of `contract/requests.py`."""

import datetime as dt
import difflib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.contract.codes import FACTS, ErrorCode
from gateway.contract.requests import (
    DEFAULT_LIMIT,
    MAX_LIMIT,
    ApprovalQuery,
    BreakerWord,
    DecisionRequest,
    ExecutionQuery,
    ForceRequest,
    OperationQuery,
    SettledAs,
    SettleRequest,
    SignalQuery,
)
from gateway.fronts.http.answers import Refusal
from gateway.fronts.http.proposals import only
from gateway.stages.execute.approval.record import Status
from gateway.stages.execute.operation.record import State

_STATES: Final[Mapping[str, frozenset[str]]] = {
    **{state.value: frozenset({state.value}) for state in State},
    # Whether somebody still listens does not matter to whoever asks what is in doubt.
    "unknown": frozenset({State.UNKNOWN.value, State.LISTENING.value}),
}
STATE_NAMES: Final = tuple(sorted(_STATES))
_OPERATION_PARAMETERS: Final = ("key", "state", "run_id", "tool", "limit")
_EXECUTION_PARAMETERS: Final = ("run_id", "tool", "code", "operation_id", "trace_id", "since", "limit")
_SIGNAL_PARAMETERS: Final = ("tool", "since")
_APPROVAL_PARAMETERS: Final = ("state", "run_id", "tool", "limit")
_DECISION_FIELDS: Final = ("decision", "note")
_DECISIONS: Final = {"approve": True, "deny": False}
DECISION_NAMES: Final = tuple(_DECISIONS)
MAX_NOTE: Final = 1000
_SETTLE_FIELDS: Final = ("settled_as", "evidence", "result")
_FORCE_FIELDS: Final = ("state", "reason", "for_s")
MAX_REASON: Final = 200
MAX_FORCED_S: Final = 604_800.0
_MAX_VALUE: Final = 255
MAX_EVIDENCE: Final = 4000

Pairs = Sequence[tuple[str, str]]


def operation_query(pairs: Pairs) -> OperationQuery:
    """The question of `GET /v1/operations`.

    Raises:
        Refusal: `invalid_request`.
    """
    asked = single(pairs, _OPERATION_PARAMETERS)
    state = asked.get("state")
    if state is not None and state not in _STATES:
        raise _misshapen(f"state must be one of {', '.join(STATE_NAMES)}")
    return OperationQuery(
        key=asked.get("key"),
        states=None if state is None else _STATES[state],
        run_id=asked.get("run_id"),
        tool=asked.get("tool"),
        limit=_limit(asked),
    )


def execution_query(pairs: Pairs) -> ExecutionQuery:
    """The question of `GET /v1/executions`.

    Raises:
        Refusal: `invalid_request`.
    """
    asked = single(pairs, _EXECUTION_PARAMETERS)
    code = asked.get("code")
    if code is not None and code not in FACTS:
        raise _misshapen("code must be an error code of this gateway")
    return ExecutionQuery(
        run_id=asked.get("run_id"),
        tool=asked.get("tool"),
        code=code,
        operation_id=asked.get("operation_id"),
        trace_id=asked.get("trace_id"),
        since_wall=_moment(asked.get("since")),
        limit=_limit(asked),
    )


def signal_query(pairs: Pairs) -> SignalQuery:
    """The question of `GET /v1/signals`.

    Raises:
        Refusal: `invalid_request`.
    """
    asked = single(pairs, _SIGNAL_PARAMETERS)
    return SignalQuery(tool=asked.get("tool"), since_wall=_moment(asked.get("since")))


def approval_query(pairs: Pairs) -> ApprovalQuery:
    """The question of `GET /v1/approvals`.

    Raises:
        Refusal: `invalid_request`.
    """
    asked = single(pairs, _APPROVAL_PARAMETERS)
    state = asked.get("state")
    if state is not None and state not in tuple(Status):
        raise _misshapen(f"state must be one of {', '.join(Status)}")
    return ApprovalQuery(
        statuses=None if state is None else frozenset({state}),
        run_id=asked.get("run_id"),
        tool=asked.get("tool"),
        limit=_limit(asked),
    )


def decision_request(document: Mapping[str, Any]) -> DecisionRequest:
    """The approver's word of `POST /v1/approvals/{id}/decision`. Nothing else may stand beside it.

    Raises:
        Refusal: `invalid_request`.
    """
    only(document, _DECISION_FIELDS, "the body")
    decision, note = document.get("decision"), document.get("note")
    if not isinstance(decision, str) or decision not in _DECISIONS:
        raise _misshapen(f"decision must be {' or '.join(_DECISIONS)}")
    if note is not None and (not isinstance(note, str) or not note.strip() or len(note) > MAX_NOTE):
        raise _misshapen(f"note must be 1 to {MAX_NOTE} characters")
    return DecisionRequest(approve=_DECISIONS[decision], note=None if note is None else note.strip())


def settle_request(document: Mapping[str, Any]) -> SettleRequest:
    """The operator's word of `POST /v1/operations/{id}/settle`.

    Raises:
        Refusal: `invalid_request`.
    """
    only(document, _SETTLE_FIELDS, "the body")
    settled_as, evidence = document.get("settled_as"), document.get("evidence")
    if settled_as not in tuple(SettledAs):
        raise _misshapen(f"settled_as must be {' or '.join(SettledAs)}")
    if not isinstance(evidence, str) or not evidence.strip() or len(evidence) > MAX_EVIDENCE:
        raise _misshapen(f"evidence must say, in 1 to {MAX_EVIDENCE} characters, what the settlement rests on")
    said, result = SettledAs(settled_as), document.get("result")
    if result is not None and said is not SettledAs.EXECUTED:
        raise _misshapen(f"what ended as {said} has no result; leave result out, or settle as {SettledAs.EXECUTED}")
    return SettleRequest(settled_as=said, evidence=evidence.strip(), result=result)


def force_request(document: Mapping[str, Any]) -> ForceRequest:
    """The operator's word of `POST /v1/breakers/{scope}`.

    Raises:
        Refusal: `invalid_request`.
    """
    only(document, _FORCE_FIELDS, "the body")
    state, reason, for_s = document.get("state"), document.get("reason"), document.get("for_s")
    if state not in tuple(BreakerWord):
        raise _misshapen(f"state must be {', '.join(BreakerWord)}")
    word = BreakerWord(state)
    if word is BreakerWord.AUTO:
        if reason is not None or for_s is not None:
            raise _misshapen("auto takes an earlier word back, and needs no reason and no for_s")
        return ForceRequest(word=word)
    # Callers that are refused read it, and a model may: one line of plain text.
    if not isinstance(reason, str) or not reason.strip() or len(reason) > MAX_REASON or not reason.isprintable():
        raise _misshapen(f"reason must say in one line of 1 to {MAX_REASON} printable characters why")
    if isinstance(for_s, bool) or not isinstance(for_s, int | float) or not 1 <= for_s <= MAX_FORCED_S:
        raise _misshapen(f"for_s must be how many seconds the word holds, from 1 to {MAX_FORCED_S:.0f}")
    return ForceRequest(word=word, reason=reason.strip(), for_s=float(for_s))


def single(pairs: Pairs, known: tuple[str, ...]) -> dict[str, str]:
    """The parameters by name: each known, given once, and of sane length.

    Raises:
        Refusal: `invalid_request`.
    """
    asked: dict[str, str] = {}
    for name, value in pairs:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise _misshapen(f"this route's parameters are {', '.join(known)}{hint}")
        if name in asked:
            raise _misshapen(f"the parameter {name} came more than once")
        if not 0 < len(value) <= _MAX_VALUE or not value.isprintable():
            raise _misshapen(f"the parameter {name} must be 1 to {_MAX_VALUE} printable characters")
        asked[name] = value
    return asked


def _limit(asked: Mapping[str, str]) -> int:
    given = asked.get("limit")
    if given is None:
        return DEFAULT_LIMIT
    if not given.isascii() or not given.isdigit() or not 1 <= int(given) <= MAX_LIMIT:
        raise _misshapen(f"limit must be a whole number from 1 to {MAX_LIMIT}")
    return int(given)


def _moment(since: str | None) -> float | None:
    if since is None:
        return None
    try:
        # In a query string an unescaped plus sign arrives as a space.
        moment = dt.datetime.fromisoformat(since.replace(" ", "+"))
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise _misshapen("since must be a moment with its zone, as in 2026-10-28T09:14:02Z")
    return moment.timestamp()


def _misshapen(what: str) -> Refusal:
    return Refusal(ErrorCode.INVALID_REQUEST, f"The request was not understood: {what}. Correct it and ask again.")
