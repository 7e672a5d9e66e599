"""The claim: what must hold before a record is owned, and the undertaking that begins with it."""

import contextlib
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from gateway.contract import keys
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope
from gateway.manifest.placeholders import RenderError
from gateway.manifest.templates import RenderedRequest
from gateway.manifest.tool import Tool
from gateway.pipeline.approving import NOT_NEEDED, Approvals, Granted
from gateway.pipeline.effort import Effort
from gateway.pipeline.ending import Ending
from gateway.pipeline.keeping import Keeper
from gateway.pipeline.limiting import over_limit, over_rate
from gateway.pipeline.parts import VOLATILE, Parts
from gateway.pipeline.pinning import Pins, RevisionError
from gateway.pipeline.pulse import Pulse
from gateway.pipeline.reconciling import Looker
from gateway.pipeline.ruling import EXECUTION
from gateway.pipeline.spool import Spool
from gateway.pipeline.undertaking import LookAgain, Undertaking
from gateway.pipeline.visit import Step, Visit
from gateway.pipeline.waiting import WaitingRoom, shared
from gateway.stages.execute.attempt.render import render
from gateway.stages.execute.operation import machine
from gateway.stages.execute.operation.claim import Claim
from gateway.stages.execute.operation.intention import asking_as
from gateway.stages.execute.operation.machine import FencedError
from gateway.stages.execute.operation.meeting import Begin, BeginAgain, Forgotten, MayBegin, TakeOver
from gateway.stages.execute.operation.ports import StoreUnavailableError
from gateway.stages.execute.operation.record import Bodies, Record, State
from gateway.stages.execute.operation.table import IllegalMoveError
from gateway.stages.monitor.ports import IdempotencyResult

Spawn = Callable[[Coroutine[Any, Any, None]], object]
"""Starts a task that the pipeline waits for when it stops."""


class Claims:
    """Makes records owned, and sets undertakings going."""

    def __init__(
        self,
        parts: Parts,
        keeper: Keeper,
        looker: Looker,
        room: WaitingRoom,
        spool: Spool,
        pulse: Pulse,
        pins: Pins,
        spawn: Spawn,
    ) -> None:
        self._parts = parts
        self._keeper = keeper
        self._looker = looker
        self._room = room
        self._spool = spool
        self._pulse = pulse
        self._pins = pins
        self.approvals = Approvals(parts, keeper)
        self._spawn = spawn
        self.draining = False

    async def start(self, meeting: MayBegin, visit: Visit) -> Step:
        """Claim, and carry it out."""
        parts, intention = self._parts, visit.intention
        key = intention.key_at(meeting)
        rendered = self.render(visit, key)
        if isinstance(rendered, Envelope):
            return rendered
        refused = self._stale(visit, key, rendered) or self._withheld_now(visit) or await self.ruled(visit)
        refused = refused or await self.barred(visit) or await over_limit(parts, visit.telling)
        if refused is not None:
            return refused
        granted = await self._granted(meeting, visit, key, rendered)
        if not isinstance(granted, Granted):
            return granted
        visit.telling.idempotency = IdempotencyResult.NEW
        if isinstance(meeting, Begin) and granted is NOT_NEEDED and self._may_mark_at_once(intention.tool, rendered):
            claim = self.new_record(visit, meeting.occurrence, parts.chance.token(), key=key)
            return await self.undertake(visit, claim, rendered, intention.tool, kept=False)
        claimed = await self._claimed(meeting, visit, key, granted)
        return None if claimed is None else await self.undertake(visit, claimed, rendered, intention.tool)

    def _may_mark_at_once(self, tool: Tool, rendered: RenderedRequest) -> bool:
        """Whether nothing stands between claim and SENT mark, so that one commit at the gate makes both moves.

        A baseline look-up does, and so does a slot or a connection that is not there yet, or the session of an MCP server:
        who waits holds a claim that others see, also those of another revision. The commit is the gate's, as ever: a crash
        before it leaves nothing, and has sent nothing.
        """
        waits = tool.reconcile.reads_first or tool.backend.fresh_connection or tool.backend.mcp is not None
        room = self._parts.bulkheads.has_room(tool.name, slots=tool.limits.concurrency)
        return room and not waits and self._parts.transport.has_idle(rendered.origin)

    async def _claimed(self, meeting: MayBegin, visit: Visit, key: str, granted: Granted) -> Record | None:
        """The record, now this visit's; None: somebody was first."""
        parts, intention = self._parts, visit.intention
        token = parts.chance.token()
        claim = partial(self._claim, visit, token, granted)
        try:
            match meeting:
                case BeginAgain(record=record):
                    return await self._keeper.move(record, lambda r, now: machine.claim(r, claim(record, now)))
                case TakeOver(record=record):
                    return await self._keeper.move(
                        record, lambda r, now: machine.take_over(r, claim(record, now), now=now)
                    )
                case Begin(occurrence=occurrence) | Forgotten(occurrence=occurrence):
                    return await self._keeper.insert(self.new_record(visit, occurrence, token, granted, key=key))
        except (FencedError, IllegalMoveError):
            return None
        except StoreUnavailableError:
            # It may be claimed all the same: everybody would wait for nobody until the lease is over.
            self._spool.later(lambda: self._let_go(intention.origin.tenant, key, token))
            raise

    def _claim(self, visit: Visit, token: str, granted: Granted, earlier: Record, now: float) -> Claim:
        intention = visit.intention
        return Claim(
            owner=token,
            lease_until=now + self._parts.choices.lease_s,
            origin=asking_as(earlier, intention.origin),
            arguments=intention.arguments,
            fingerprint=intention.fingerprint,
            holds=intention.holds,
            approval_id=granted.approval_id,
            approved_until=granted.until,
            repeat_of=visit.call.repeat_of,
        )

    async def _granted(self, meeting: MayBegin, visit: Visit, key: str, rendered: RenderedRequest) -> Granted | Step:
        if visit.intention.tool.approval is None:
            return NOT_NEEDED
        earlier = meeting.earlier if isinstance(meeting, Begin | BeginAgain) else None
        return await self.approvals.granted(visit, key, lambda: self.action_hash(visit, key, rendered), earlier)

    async def _let_go(self, tenant: str, key: str, token: str) -> None:
        """Free a record that this call may have claimed without hearing of it, and does nothing with."""
        record = await self._parts.store.by_key(tenant, key)
        if record is None or record.state is not State.CLAIMED or record.owner != token:
            return
        with contextlib.suppress(FencedError, IllegalMoveError):
            await self._keeper.move(record, lambda r, now: machine.give_up(r, machine.own(record), now=now))

    def new_record(
        self,
        visit: Visit,
        occurrence: int,
        token: str | None,
        granted: Granted = NOT_NEEDED,
        *,
        key: str | None = None,
    ) -> Record:
        """A record of this visit's operation: claimed under `token`, or in doubt when nobody owns it.

        `key`: of this occurrence, where it is known already.
        """
        parts, intention = self._parts, visit.intention
        now = parts.store.now()
        return Record(
            key=key or intention.operation_key(occurrence),
            identity_key=intention.identity_key,
            occurrence=occurrence,
            operation_id=parts.chance.ulid(),
            origin=intention.origin,
            fingerprint=intention.fingerprint,
            holds=intention.holds,
            state=State.UNKNOWN if token is None else State.CLAIMED,
            owner=token,
            lease_until=0.0 if token is None else now + parts.choices.lease_s,
            closed_at=now if token is None else None,
            created_wall=parts.store.wall(),
            bodies=Bodies(arguments=intention.arguments),
            approval_id=granted.approval_id,
            approved_until=granted.until,
            repeat_of=visit.call.repeat_of,
        )

    async def may_replay(self, record: Record, visit: Visit) -> bool:
        """Whether this call may send `record` again: it is a send like any other, and spends the caller's share.

        What it costs is counted once a run.
        """
        if self._withheld_now(visit) or await self.ruled(visit):
            return False
        asks = self.approvals.needed(visit, None)
        if isinstance(asks, Envelope) or (asks and record.approval_id is None):
            return False
        paid = record.origin.run_id is not None and record.origin.run_id == visit.call.run_id
        return await (over_rate if paid else over_limit)(self._parts, visit.telling) is None

    async def undertake(
        self, visit: Visit, record: Record, rendered: RenderedRequest | None, tool: Tool, *, kept: bool = True
    ) -> Step:
        """Carry a claim out, or replay what is in doubt; called in a task that no caller's going away cancels.

        `kept`: the store has the claim; else it goes in with its SENT mark.
        """
        parts = self._parts
        effort = Effort(parts, self._keeper, tool, record, rendered, changed_at=visit.changed_at, kept=kept)
        ending = Ending(parts, self._looker, self._spool, visit.telling, visit.trace, effort)
        undertaking = Undertaking(parts, self._looker, self._spool, visit.trace, effort, ending, visit.deadline)
        self._pulse.begin(effort)
        try:
            answer = await undertaking.run()
        finally:
            if undertaking.listens is None:
                self._pulse.end(effort)
        if undertaking.listens is not None:
            self._spawn(self._listen(undertaking, record.key))
        # Without its claim in the store it has no word about the operation: another may be carrying it out.
        self._room.call(record.key, shared(answer) if isinstance(answer, Envelope) and effort.kept else None)
        if isinstance(answer, LookAgain):
            visit.telling.sent += effort.sends
            return None
        visit.telling.rowed = True
        return answer

    async def _listen(self, undertaking: Undertaking, key: str) -> None:
        try:
            await undertaking.listen()
        finally:
            self._pulse.end(undertaking.effort)
            # Whoever waits by now looks at what became of it since its own caller was answered.
            self._room.call(key, None)

    def render(self, visit: Visit, key: str) -> RenderedRequest | Envelope:
        """The request of this occurrence, or why there is none."""
        tool, telling = visit.intention.tool, visit.telling
        try:
            return render(tool, telling.values(key=tool.key_value(key)))
        except RenderError as error:
            return telling.unsendable(error)

    def action_hash(self, visit: Visit, key: str, rendered: RenderedRequest) -> str:
        """What an approval, or a caller's `expect`, is bound to."""
        tool, arguments = visit.intention.tool, visit.intention.arguments
        return keys.action_hash(
            keys.Action(
                tool=tool.name,
                arguments={name: arguments[name] for name in tool.material if name in arguments},
                operation_key=key,
                subject=visit.telling.caller.subject,
                run_id=visit.call.run_id,
                method=rendered.method,
                origin=rendered.origin,
                target=rendered.target,
                headers=rendered.headers,
                body=rendered.body,
                policy_digest=tool.policy_digest,
            )
        )

    def _stale(self, visit: Visit, key: str, rendered: RenderedRequest) -> Envelope | None:
        expect = visit.call.expect
        if expect is None:
            return None
        other_key = expect.operation_key is not None and expect.operation_key != key
        other_action = expect.action_hash is not None and expect.action_hash != self.action_hash(visit, key, rendered)
        return visit.telling.refuse(ErrorCode.INTENT_STALE) if other_key or other_action else None

    async def barred(self, visit: Visit) -> Envelope | None:
        """Pin the manifest before a record is made with it; the refusal when it must not make one."""
        tool = visit.intention.tool
        try:
            await self._pins.ensure(tool)
        except RevisionError as error:
            return visit.telling.refuse(ErrorCode.GATEWAY_CONFIG_ERROR, reason=str(error).removesuffix("."))
        if (newer := await self._pins.successor(tool)) is None:
            return None
        stands = f"another gateway process has loaded revision {newer} of {tool.name}, and this one still has"
        message = (
            f"Nothing was executed: {stands} {tool.identity.revision}. Make the same call again; that process answers."
        )
        return visit.telling.refuse(ErrorCode.DRAINING, message=message)

    def _withheld_now(self, visit: Visit) -> Envelope | None:
        """The answer where this process, its store or the time that is left forbid to send. Asked again after whatever takes time."""
        tool, parts = visit.intention.tool, self._parts
        if self.draining:
            return visit.telling.refuse(ErrorCode.DRAINING)
        if not (parts.store.durable or parts.choices.allow_volatile) and tool.is_plain_write:
            return visit.telling.refuse(ErrorCode.GATEWAY_CONFIG_ERROR, reason=VOLATILE)
        left_s, needed_s = visit.deadline - parts.clock.monotonic(), tool.timeouts.connect_s + tool.timeouts.min_send_s
        if left_s >= needed_s:
            return None
        asked = visit.call.deadline_ms is not None and visit.call.deadline_ms < needed_s * 1000
        code = ErrorCode.DEADLINE_TOO_SHORT if asked else ErrorCode.DEADLINE_BEFORE_SEND
        return visit.telling.refuse(code, deadline_s=max(left_s, 0.0), needed_s=needed_s)

    async def ruled(self, visit: Visit) -> Envelope | None:
        """May it be done now? Asked only where it would be: what was done or may have been has answered already."""
        refused = await visit.ruling.refusal(visit.intention.tool, EXECUTION)
        # Look-ups take time.
        return refused or self._withheld_now(visit)
