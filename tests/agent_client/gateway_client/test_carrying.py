"""The moves that carry one action out, without a network: which sends are made, and what is told in the end."""

from collections.abc import Sequence
from typing import Any

import pytest

from agent_client.gateway_client.carrying import DoCall, DoPrepare, DoWait, Ended, Errand, Move, Patience
from agent_client.gateway_client.reading import NotAnEnvelope
from agent_client.ports import GatewayUnreachable
from agent_client.wire import CallRequest, Intent
from gateway.contract.codes import CallOutcome, ErrorCode
from gateway.contract.envelope import Envelope, Meta, fail, succeed
from tests.agent_client.brisk import FixedChance
from tests.agent_client.envelopes import PREPARED

REQUEST = CallRequest(tool="issue_refund", arguments={}, request_id="req-mine", run_id="run-7", step=4)
LOST = GatewayUnreachable("the gateway did not answer in time", never_sent=False)
NEVER = GatewayUnreachable("no connection", never_sent=True)
BUSY = NotAnEnvelope("a page", status=503, retry_after_s=9.0)
PAGE = NotAnEnvelope("a page", status=200)
META = Meta(request_id="req", tool="issue_refund")
READY = succeed(PREPARED, META)
READS = succeed({**PREPARED, "operation_key": None, "action_hash": None, "effect": "read"}, META)
DONE = succeed({"refund_id": "r1"}, META)
RECORDED = Meta(request_id="req", tool="issue_refund", recorded=True)


def no(code: ErrorCode, meta: Meta = META) -> Envelope:
    return fail(code, meta)


def play(
    ends: Sequence[Ended], request: CallRequest = REQUEST, sends: int = 3, **patience: float
) -> tuple[Envelope, list[Move]]:
    """Drive the moves; every wait is allowed, and every prepare and call ends as `ends` says, in turn."""
    moves: list[Move] = []
    coming = iter(ends)
    errand = Errand(request, Patience(sends=sends, **patience), chance=FixedChance(), began=0.0)
    move = errand.first()
    while not isinstance(move, Envelope):
        moves.append(move)
        move = errand.after(True if isinstance(move, DoWait) else next(coming))
    return move, moves


def calls(moves: list[Move]) -> list[CallRequest]:
    return [move.request for move in moves if isinstance(move, DoCall)]


def test_a_call_is_held_to_what_was_prepared() -> None:
    """Prepare, then one call with key, hash and epoch."""
    envelope, moves = play([READY, DONE])

    assert envelope is DONE
    assert [type(move) for move in moves] == [DoPrepare, DoCall]
    assert calls(moves)[0].expect == Intent(operation_key="key-1", action_hash="sha256:1", store_epoch="epoch-1")
    assert calls(moves)[0].attempt == 1


def test_an_intent_that_was_saved_is_kept() -> None:
    """A caller that resumes gives its own; the call is held to that one, and counts on from its attempt."""
    mine = Intent(operation_key="old", action_hash="sha256:0", store_epoch="epoch-0")
    request = CallRequest(
        tool="issue_refund", arguments={}, request_id="r", run_id="run", step=1, expect=mine, attempt=2
    )
    _, moves = play([READY, LOST, DONE], request)

    assert [(call.expect, call.attempt) for call in calls(moves)] == [(mine, 2), (mine, 3)]


@pytest.mark.parametrize(
    ("ends", "attempts"),
    [
        ([LOST, DONE], [1, 2]),
        ([NEVER, DONE], [1, 1]),
        ([BUSY, DONE], [1, 2]),
        ([no(ErrorCode.RATE_LIMITED), DONE], [1, 1]),
        ([no(ErrorCode.CIRCUIT_OPEN), DONE], [1, 1]),
        ([no(ErrorCode.IDEMPOTENCY_IN_PROGRESS), DONE], [1, 2]),
        ([LOST, no(ErrorCode.DRAINING), DONE], [1, 2, 2]),
    ],
)
def test_scenario_18_what_is_safe_is_sent_again_and_counted(ends: list[Ended], attempts: list[int]) -> None:
    """Each further send is the same request but for its count; the epoch stays the one that was prepared with."""
    envelope, moves = play([READY, *ends])

    assert envelope is DONE
    assert [call.attempt for call in calls(moves)] == attempts
    assert {(call.expect, call.request_id) for call in calls(moves)} == {
        (Intent(operation_key="key-1", action_hash="sha256:1", store_epoch="epoch-1"), "req-mine")
    }


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.INTENT_STALE,
        ErrorCode.REJECTED,
        ErrorCode.FORBIDDEN,
        ErrorCode.APPROVAL_REQUIRED,
        ErrorCode.TIMEOUT_UNKNOWN_OUTCOME,
        ErrorCode.DONE_RESULT_LOST,
    ],
)
def test_what_the_contract_calls_final_is_not_sent_again(code: ErrorCode) -> None:
    """One call, and the gateway's own envelope."""
    final = no(code)
    envelope, moves = play([READY, final])

    assert envelope is final
    assert len(calls(moves)) == 1


@pytest.mark.parametrize(
    "ends",
    [
        [LOST, LOST, LOST],
        [LOST, NEVER, NEVER],
        [LOST, no(ErrorCode.DRAINING), no(ErrorCode.RATE_LIMITED)],
        [LOST, no(ErrorCode.INTENT_STALE)],
        [PAGE],
    ],
)
def test_a_lost_answer_is_unknown_until_the_record_speaks(ends: list[Ended]) -> None:
    """A later refusal says nothing about the send whose answer was lost."""
    envelope, _ = play([READY, *ends])

    assert envelope.error is not None
    assert envelope.error.outcome is CallOutcome.UNKNOWN
    assert envelope.error.code is ErrorCode.OUTCOME_UNKNOWN
    assert envelope.error.details == {"told_by": "agent_client"}
    assert (envelope.meta.request_id, envelope.meta.run_id, envelope.meta.step) == ("req-mine", "run-7", 4)


def test_the_records_word_ends_the_doubt() -> None:
    """A recorded refusal after a lost answer: nothing was done by any send."""
    final = no(ErrorCode.REJECTED, RECORDED)
    envelope, _ = play([READY, LOST, final])

    assert envelope is final


def test_never_sent_is_not_executed() -> None:
    """When no send left, nothing was carried out, and it says so."""
    envelope, _ = play([READY, NEVER, NEVER, NEVER])

    assert envelope.error is not None
    assert envelope.error.outcome is CallOutcome.NOT_EXECUTED
    assert envelope.error.code is ErrorCode.CONNECT_FAILED


def test_a_read_is_never_in_doubt() -> None:
    """A lost answer to a read changed nothing, and is asked for again."""
    envelope, moves = play([READS, LOST, LOST, LOST])

    assert envelope.error is not None
    assert envelope.error.outcome is CallOutcome.NOT_EXECUTED
    assert len(calls(moves)) == 3
    assert play([READS, LOST, DONE])[0] is DONE


def test_a_write_that_nothing_holds_is_not_sent_again() -> None:
    """Without key and hash a second send could become another operation; with a key of the caller's it cannot."""
    loose = succeed({**PREPARED, "operation_key": None, "action_hash": None}, META)
    named = CallRequest(tool="t", arguments={}, request_id="r", run_id="run", step=1, idempotency_key="mine")

    assert len(calls(play([loose, LOST])[1])) == 1
    assert len(calls(play([loose, LOST, DONE], named)[1])) == 2


def test_a_prepare_that_is_refused_or_lost_executes_nothing() -> None:
    """It is repeated when that may help; no call follows."""
    denied = no(ErrorCode.FORBIDDEN)

    assert play([denied]) == (denied, [DoPrepare(REQUEST)])
    for ends in ([LOST, LOST, LOST], [PAGE], [succeed({}, META)]):
        envelope, moves = play(ends)
        assert envelope.error is not None
        assert envelope.error.outcome is CallOutcome.NOT_EXECUTED
        assert calls(moves) == []
    assert play([LOST, no(ErrorCode.DRAINING), READY, DONE])[0] is DONE


def test_waits_grow_and_are_at_least_what_was_asked() -> None:
    """0.5, 1, 2 … 8 s at most; an envelope's or a header's own wait is the least."""
    asked = fail(ErrorCode.RATE_LIMITED, META, retry_after_s=30)
    _, moves = play([READY, asked, BUSY, LOST, LOST, LOST, LOST, LOST], sends=7)
    waits = [(move.at_least_s, move.bound_s) for move in moves if isinstance(move, DoWait)]

    assert waits == [(30, 0.5), (9, 1), (0, 2), (0, 4), (0, 8), (0, 8)]


def test_no_time_left_ends_it_with_what_is_known() -> None:
    """A wait that does not fit is not begun."""
    errand = Errand(REQUEST, Patience(), chance=FixedChance(), began=0.0)
    limited = no(ErrorCode.RATE_LIMITED)
    errand.first()
    errand.after(READY)

    assert isinstance(errand.after(limited), DoWait)
    assert errand.after(False) is limited


def test_a_pause_is_drawn_below_its_bound_not_shorter_than_asked_and_ends_in_time() -> None:
    """Time counts from the beginning of the action; the last moment still counts."""
    errand = Errand(REQUEST, Patience(within_s=10), chance=FixedChance(0.5), began=100.0)

    assert errand.pause(DoWait(at_least_s=0.0, bound_s=4.0), now=100.0) == 2.0
    assert errand.pause(DoWait(at_least_s=3.0, bound_s=4.0), now=107.0) == 3.0
    assert errand.pause(DoWait(at_least_s=3.0, bound_s=4.0), now=107.1) is None


def test_an_errand_has_a_name_of_its_own_unless_it_is_given_one() -> None:
    """`more` holds the other fields of the request; `prepare` and call go to their own addresses."""
    given: dict[str, Any] = {"run_id": "run-7", "step": 3, "idempotency_key": "mine"}
    errand = Errand.to("t", {"a": 1}, Patience(), chance=FixedChance(), began=0.0, **given)
    mine = Errand.to("t", {}, Patience(), chance=FixedChance(), began=0.0, request_id="r", **given)
    first, second = errand.first(), mine.first()

    assert isinstance(first, DoPrepare)
    assert first.request == CallRequest(tool="t", arguments={"a": 1}, request_id=f"req_{1:024x}", **given)
    assert first.ask().path == "/v1/tools/t/prepare"
    assert DoCall(first.request).ask().path == "/v1/tools/t/calls"
    assert isinstance(second, DoPrepare)
    assert second.request.request_id == "r"


def test_at_least_one_send() -> None:
    """None at all would have no answer."""
    with pytest.raises(ValueError, match="at least one"):
        Patience(sends=0)


def test_waits_are_bounded_as_it_was_said() -> None:
    """`base_s` and its doubles, up to `cap_s`; as many sends as `sends`."""
    _, moves = play([READY, *[LOST] * 9], sends=5, base_s=0.25, cap_s=0.75)

    assert [move.bound_s for move in moves if isinstance(move, DoWait)] == [0.25, 0.5, 0.75, 0.75]
    assert len(calls(moves)) == 5
