"""Actions in doubt: every sight of an operation, and what may follow, with a stub of the gateway at the port."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from agent_client.checkpoints import MemoryCheckpoints
from agent_client.codec import state_of
from agent_client.limits import Limits
from agent_client.ports import GatewayRefused, GatewayUnreachable
from agent_client.runner import Runner
from agent_client.status import Reason, Status
from agent_client.steps.execute.reconciling import MOVES, Move, Sight
from agent_client.task_type import TaskType
from agent_client.wire import ApprovalView, CallRequest, OperationState, OperationView
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope, Meta, fail, succeed
from gateway.contract.requests import ToolSummary
from tests.agent_client.approving import TOOLS
from tests.agent_client.brisk import BriskClock, FixedChance
from tests.agent_client.world import Scripted, reply

META = Meta(request_id="req", tool="issue_refund", tool_version="1", store_epoch="e1")
DOUBT = fail(ErrorCode.TIMEOUT_UNKNOWN_OUTCOME, META)
DONE = succeed({"refund_id": "rf_1"}, META)
ISSUE = reply(("issue_refund", {"order_id": "1", "amount": 5}))
CANNOT = reply(("finish", {"outcome": "cannot", "summary": "no"}))

Answer = Envelope | GatewayUnreachable
Look = OperationState | None | GatewayUnreachable | GatewayRefused


@dataclass(slots=True)
class Line:
    """A gateway whose answers are written down beforehand; the last of each goes on for ever."""

    answers: list[Answer]
    looks: list[Look] = field(default_factory=list)
    hashes: list[str] = field(default_factory=lambda: ["sha256:1"])
    epochs: list[str] = field(default_factory=lambda: ["e1"])
    reconciled: OperationState = OperationState.UNKNOWN
    refuse_prepare: Envelope | None = None
    verify_with: str | None = None
    sent: list[CallRequest] = field(default_factory=list)
    store: MemoryCheckpoints = field(default_factory=MemoryCheckpoints)
    durable: list[tuple[str, str, int]] = field(default_factory=list)
    prepared: int = 0
    asked: int = 0

    async def catalogue(self) -> tuple[ToolSummary, ...]:
        return tuple(TOOLS.values())

    async def prepare(self, _: CallRequest) -> Envelope:
        self.prepared += 1
        if self.refuse_prepare is not None and self.prepared > 1:
            return self.refuse_prepare
        action_hash, epoch = _next(self.hashes), _next(self.epochs)
        need = {"required": False}
        return succeed(
            {
                "operation_key": "key-1", "action_hash": action_hash, "effect": "write", "store_epoch": epoch,
                "approval": need, "verify_with": self.verify_with,
            },
            META,
        )  # fmt: skip

    async def call(self, request: CallRequest) -> Envelope:
        self.sent.append(request)
        await self._witness(request)
        answer = _next(self.answers)
        if isinstance(answer, GatewayUnreachable):
            raise answer
        envelope: Envelope = answer
        return envelope

    async def _witness(self, request: CallRequest) -> None:
        """What another worker would find if this one died now: this very send, counted."""
        log = await self.store.load("t")
        assert log is not None
        (saved,) = state_of(log).outstanding
        assert request.expect is not None
        assert (saved.key, saved.action_hash, saved.store_epoch) == (
            request.expect.operation_key,
            request.expect.action_hash,
            request.expect.store_epoch,
        )
        assert saved.open
        assert saved.sends >= request.attempt
        self.durable.append((saved.status.value, saved.action_hash, saved.sends))

    async def operation(self, *, operation_id: str | None = None, key: str | None = None) -> OperationView | None:
        assert (operation_id, key) == (None, "key-1")
        look = _next(self.looks)
        if isinstance(look, Exception):
            raise look
        return None if look is None else _view(look)

    async def reconcile(self, operation_id: str) -> Envelope:
        self.asked += 1
        return succeed(
            {
                "operation_id": operation_id,
                "operation_key": "key-1",
                "tool": "issue_refund",
                "state": self.reconciled.value,
            },
            META,
        )

    async def approval(self, approval_id: str) -> ApprovalView | None:
        raise AssertionError(approval_id)


def _next(lines: list[Any]) -> Any:
    return lines.pop(0) if len(lines) > 1 else lines[0]


def _view(state: OperationState) -> OperationView:
    code = "declined" if state is OperationState.REFUSED else None
    return OperationView(operation_id="op-1", operation_key="key-1", tool="issue_refund", state=state, code=code)


async def ran(line: Line, **limits: Any) -> Any:
    """One write, and what became of it."""
    runner = _runner(line, Scripted(ISSUE, CANNOT), **limits)
    await runner.start("t", goal="g", task_id="t")
    return await runner.run("t")


async def resumed(line: Line) -> Any:
    """The same task, taken up by another worker; its model proposes nothing."""
    return await _runner(line, Scripted(CANNOT)).run("t")


def _runner(line: Line, model: Scripted, **limits: Any) -> Runner:
    return Runner(
        gateway=line,
        model=model,
        checkpoints=line.store,
        tasks=[TaskType("t", tools=["issue_refund"], limits=Limits(**{"max_steps": 3, **limits}))],
        clock=BriskClock(),
        chance=FixedChance(),
    )


def test_L48_every_sight_has_its_move_and_only_proof_permits_a_send() -> None:
    """The table is whole, and a fresh authorisation follows only where nothing of the operation is there."""
    assert set(MOVES) == set(OperationState) | set(Sight)
    assert {sight for sight, move in MOVES.items() if move is Move.SEND} == {Sight.ABSENT, OperationState.FREE}


@pytest.mark.parametrize("look", [OperationState.DONE, OperationState.SENT, OperationState.CLAIMED])
async def test_L48_what_is_done_or_under_way_is_asked_for_by_the_same_call(look: Look) -> None:
    """Same key, same hash, same epoch, attempt 2; the model is not asked in between."""
    line = Line(answers=[DOUBT, DONE], looks=[look])

    state = await ran(line)

    first, second = line.sent
    assert (first.expect, first.attempt, second.attempt) == (second.expect, 1, 2)
    assert second.expect is not None
    assert (second.expect.operation_key, second.expect.action_hash, second.expect.store_epoch) == (
        "key-1", "sha256:1", "e1",
    )  # fmt: skip
    assert (state.outstanding[0].status, line.prepared) == ("executed", 1)


@pytest.mark.parametrize("look", [None, OperationState.FREE])
async def test_L48_L62_what_is_proved_absent_is_authorised_again_and_sent_under_the_same_key(look: Look) -> None:
    """Prepare comes first, with rules and preconditions as they are now."""
    line = Line(answers=[DOUBT, DONE], looks=[look])

    state = await ran(line)

    assert (line.prepared, [r.attempt for r in line.sent]) == (2, [1, 2])
    assert state.outstanding[0].status == "executed"


async def test_L62_what_is_absent_and_no_longer_allowed_is_dropped_with_the_reason() -> None:
    """Nothing was done, nothing will be; the model hears why."""
    refusal = fail(ErrorCode.RULE_DENIED, META)
    line = Line(answers=[DOUBT], looks=[None], refuse_prepare=refusal)

    state = await ran(line)

    assert (state.outstanding, len(line.sent)) == ((), 1)
    assert state.observations[0].code == "rule_denied"


async def test_absence_in_another_store_proves_nothing() -> None:
    """The record may have been lost with the store: flagged, not sent as another action and not dropped.

    Nothing is on its way any more, so it is the store alone that makes the difference.
    """
    other = Line(answers=[DOUBT], looks=[None], hashes=["sha256:1", "sha256:2"], epochs=["e1", "e2"])
    state = await ran(other, flight_seconds=0, reconcile_seconds=20)
    assert (state.reason, len(other.sent)) == (Reason.UNRECONCILED, 1)

    lost = fail(ErrorCode.RULE_DENIED, Meta(request_id="r", store_epoch="e2"))
    refused = Line(answers=[DOUBT], looks=[None], refuse_prepare=lost)
    state = await ran(refused, flight_seconds=0, reconcile_seconds=20)
    assert (state.reason, state.outstanding[0].flagged) == (Reason.UNRECONCILED, True)

    same = fail(ErrorCode.RULE_DENIED, Meta(request_id="r", store_epoch="e1"))
    state = await ran(Line(answers=[DOUBT], looks=[None], refuse_prepare=same), flight_seconds=0, reconcile_seconds=20)
    assert (state.outstanding, state.observations[0].code) == ((), "rule_denied")

    nameless = Line(answers=[DOUBT], looks=[None], refuse_prepare=fail(ErrorCode.RATE_LIMITED, Meta(request_id="r")))
    assert (await ran(nameless, flight_seconds=0, reconcile_seconds=20)).reason is Reason.UNRECONCILED


async def test_an_unknown_operation_is_looked_at_by_the_gateway_and_then_called() -> None:
    """Only a live call may replay, so both are tried, and time passes in between."""
    line = Line(answers=[DOUBT, DOUBT, DONE], looks=[OperationState.UNKNOWN])

    state = await ran(line)

    assert (line.asked, [r.attempt for r in line.sent]) == (2, [1, 2, 3])
    assert state.outstanding[0].status == "executed"


async def test_a_look_that_settles_spares_the_call() -> None:
    """What the gateway has found is read at the next look."""
    line = Line(
        answers=[DOUBT], looks=[OperationState.UNKNOWN, OperationState.REFUSED], reconciled=OperationState.REFUSED
    )

    state = await ran(line)

    assert (line.asked, len(line.sent), state.observations[0].code) == (1, 1, "declined")


async def test_L34_what_stays_unknown_is_flagged_when_its_time_is_over() -> None:
    """FAILED, the action open and flagged; for a person its key, and the read that shows it where there is one."""
    line = Line(answers=[DOUBT], looks=[OperationState.UNKNOWN], verify_with="get_refund_status")

    state = await ran(line, reconcile_seconds=10)

    assert (state.status, state.reason, state.outstanding[0].flagged) == (Status.FAILED, Reason.UNRECONCILED, True)
    assert "key-1" in state.detail
    assert state.detail.endswith("a person must look, with get_refund_status.")
    nameless = await ran(Line(answers=[DOUBT], looks=[OperationState.UNKNOWN]), reconcile_seconds=10)
    assert nameless.detail.endswith("a person must look.")


async def test_contradicting_evidence_is_flagged_at_once() -> None:
    """A frozen operation is a person's."""
    line = Line(answers=[DOUBT], looks=[OperationState.FROZEN])

    state = await ran(line)

    assert (state.reason, len(line.sent)) == (Reason.UNRECONCILED, 1)


async def test_a_gateway_that_cannot_say_is_asked_again() -> None:
    """Neither silence nor a refusal to say is `there is none`."""
    refused = GatewayRefused(fail(ErrorCode.STORE_UNAVAILABLE, META))
    line = Line(
        answers=[DOUBT, DONE],
        looks=[GatewayUnreachable("away", never_sent=True), refused, OperationState.DONE],
    )

    state = await ran(line)

    assert (state.outstanding[0].status, len(line.sent), line.prepared) == ("executed", 2, 1)


async def test_L06_a_lost_connection_is_doubt_and_an_unsent_request_is_not() -> None:
    """After the first byte the operation is looked up; before it the same send is simply made."""
    lost = Line(answers=[GatewayUnreachable("reset", never_sent=False), DONE], looks=[OperationState.DONE])
    assert (await ran(lost)).outstanding[0].status == "executed"
    assert [r.attempt for r in lost.sent] == [1, 2]

    unsent = Line(answers=[GatewayUnreachable("refused", never_sent=True), DONE])
    assert (await ran(unsent)).outstanding[0].status == "executed"
    assert [r.attempt for r in unsent.sent] == [1, 1]


async def test_a_gateway_that_is_gone_before_anything_was_sent_leaves_nothing_open() -> None:
    """The task fails, and no person has to look."""
    line = Line(answers=[GatewayUnreachable("refused", never_sent=True)])

    state = await ran(line)

    assert (state.reason, state.outstanding) == (Reason.GATEWAY_UNAVAILABLE, ())


async def test_a_stale_intent_is_looked_up_under_its_old_key_and_prepared_again() -> None:
    """`intent_stale`: the old operation first, then the action as it is now, as a new intent."""
    stale = fail(ErrorCode.INTENT_STALE, META)
    line = Line(answers=[stale, DONE], looks=[None], hashes=["sha256:1", "sha256:2"])

    state = await ran(line)

    hashes = [r.expect.action_hash for r in line.sent if r.expect]
    assert (hashes, [r.attempt for r in line.sent]) == (["sha256:1", "sha256:2"], [1, 1])
    assert (state.outstanding[0].status, state.outstanding[0].stale) == ("executed", 1)


async def test_L56_every_send_is_durable_before_it_leaves() -> None:
    """The intent, each further send of it, and the intent that takes its place; the stub of this page looks each time."""
    stale, lost = fail(ErrorCode.INTENT_STALE, META), GatewayUnreachable("cut", never_sent=False)
    line = Line(answers=[lost, stale, DONE], looks=[None], hashes=["sha256:1", "sha256:1", "sha256:2"])

    await ran(line, flight_seconds=0)

    assert line.durable == [("intended", "sha256:1", 1), ("intended", "sha256:1", 2), ("intended", "sha256:2", 1)]


async def test_an_intent_that_never_holds_still_is_given_back_to_the_model() -> None:
    """Two new intents, then an observation."""
    stale = fail(ErrorCode.INTENT_STALE, META)
    line = Line(answers=[stale], looks=[None], hashes=[f"sha256:{n}" for n in range(20)])

    state = await ran(line)

    assert (len(line.sent), state.outstanding, state.observations[0].code) == (3, (), "intent_stale")


async def test_what_is_done_but_not_shown_is_executed_without_a_result() -> None:
    """A refusal to repeat the answer does not undo the action, and nothing is guessed about its result."""
    line = Line(answers=[DOUBT, fail(ErrorCode.FORBIDDEN, META)], looks=[OperationState.DONE])

    state = await ran(line)

    assert (state.outstanding[0].status, state.evidence) == ("executed", ())
    assert state.observations[0].code == "done_result_elsewhere"


@pytest.mark.parametrize("code", [ErrorCode.RATE_LIMITED, ErrorCode.STORE_UNAVAILABLE, ErrorCode.DRAINING])
async def test_a_refusal_of_the_second_send_proves_nothing_about_the_first(code: ErrorCode) -> None:
    """`Nothing was sent by this call` says nothing of the one before: it is looked at again."""
    line = Line(answers=[DOUBT, fail(code, META), DONE], looks=[OperationState.SENT, OperationState.DONE])

    state = await ran(line)

    assert (state.outstanding[0].status, [r.attempt for r in line.sent]) == ("executed", [1, 2, 3])


async def test_A09_every_send_is_on_record_and_the_model_hears_only_the_end() -> None:
    """Two attempts in doubt, one answer, one observation."""
    seen: Callable[[Any], list[Any]] = lambda s: [(r.outcome, r.idempotency_key) for r in s.tool_history]  # noqa: E731
    line = Line(answers=[DOUBT, DOUBT, DONE], looks=[OperationState.UNKNOWN])

    state = await ran(line)

    assert seen(state) == [("unknown", "key-1"), ("unknown", "key-1"), ("ok", "key-1")]
    assert [o.code for o in state.observations] == ["ok"]
