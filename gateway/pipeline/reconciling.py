"""How an unknown outcome is settled: one function for live calls, the sweeper, operators and start-up.

Evidence decides, by the rules of `lookups.py` and `replay.py`; here it is only fetched and carried to the record.
"""

from dataclasses import dataclass

from gateway.contract.codes import ErrorCode
from gateway.contract.execution import ExecutionRow
from gateway.contract.quick import quick
from gateway.manifest.placeholders import CallValues, RenderError
from gateway.manifest.policies import Caches
from gateway.manifest.tool import Tool
from gateway.pipeline.keeping import Keeper
from gateway.pipeline.parts import Parts
from gateway.pipeline.pinning import Pins
from gateway.pipeline.readers import Readers
from gateway.pipeline.reads import run_lookup
from gateway.pipeline.rivals import Rivals
from gateway.pipeline.sending import Admission, Withheld
from gateway.pipeline.telling import afterwards
from gateway.stages.execute.attempt.freshness import is_older
from gateway.stages.execute.attempt.outcome import Done
from gateway.stages.execute.attempt.render import render
from gateway.stages.execute.operation import lookups, machine, sighting
from gateway.stages.execute.operation.become import Settlement
from gateway.stages.execute.operation.lookups import LookupTerms, Sight
from gateway.stages.execute.operation.record import OWNED, Record, State
from gateway.stages.execute.operation.replay import ReplayTerms
from gateway.stages.monitor.execution import Stamp, settlement_row
from gateway.stages.monitor.ports import CallTrace, ReconcileTrace
from gateway.stages.normalise.payload import Misread, Readable, read
from gateway.stages.normalise.stored import store_answer
from gateway.stages.validate import arguments as validation
from gateway.stages.validate.verdict import Accepted

_TOO_LONG = Withheld(
    code=ErrorCode.GATEWAY_CONFIG_ERROR,
    reason="the list of its look-up is longer than `limits.result_bytes` and cannot be read whole",
)

_KEPT = Withheld(
    code=ErrorCode.GATEWAY_CONFIG_ERROR,
    reason="its look-up is answered by a cache on the way, which may not know what was done meanwhile",
)


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """A look-up's answer.

    Attributes:
        data: its validated raw result; why it cannot be read; None: there is none.
        older: a cache had it before it was asked for.
    """

    data: Readable | Misread | None = None
    older: bool = False


def lookup_terms(tool: Tool) -> LookupTerms | None:
    """What makes a negative of this tool's look-up count; None when it has none."""
    lookup = tool.reconcile.lookup
    if lookup is None:
        return None
    return LookupTerms(
        settle_after_s=lookup.settle_after_s, confirm=lookup.confirm, confirm_every_s=lookup.confirm_every_s
    )


def horizon_s(tool: Tool) -> float:
    """How long after `send_by` a request of this tool may still act."""
    return tool.timeouts.total_s + tool.timeouts.grace_s + tool.reconcile.provider_max_s


def replay_terms(parts: Parts, tool: Tool, *, live: bool) -> ReplayTerms | None:
    """What bounds a same-key replay; None for a tool without a downstream key."""
    key = tool.downstream_key
    if key is None:
        return None
    return ReplayTerms(
        window_s=key.window_s,
        caches_all=key.caches is Caches.ALL,
        send_within_s=parts.choices.lease_s,
        horizon_s=horizon_s(tool),
        background_s=None if live else tool.reconcile.replay_for_s,
        clock_is_sound=not parts.store.clock_stepped_back(),
    )


class Looker:
    """Asks the declared read, and folds what it shows into the record."""

    def __init__(self, parts: Parts, keeper: Keeper, pins: Pins) -> None:
        self._parts = parts
        self._keeper = keeper
        self._readers = Readers(parts, pins)
        self._rivals = Rivals(parts, pins)

    async def baseline(
        self, record: Record, tool: Tool, trace: CallTrace, *, deadline: float, under: Admission | None = None
    ) -> tuple[sighting.Identifier, ...] | Withheld | None:
        """What is there before the first send, which therefore is not ours.

        None: it could not be read whole this time. Withheld: nor will it be the next time.

        Args:
            under: the admission of the write that waits for it.
        """
        lookup = tool.reconcile.lookup
        if lookup is None or lookup.baseline is None:
            return ()
        reader, _ = await self._readers.of(record, tool)
        told = await self._ask(reader, record, tool, trace, deadline=deadline, under=under)
        if told.older:
            return _KEPT
        if isinstance(told.data, Readable):
            return sighting.identifiers(told.data.value, lookup, record.bodies.arguments)
        return _TOO_LONG if told.data is Misread.TOO_LARGE else None

    async def look(self, record: Record, tool: Tool, trace: ReconcileTrace | CallTrace, *, deadline: float) -> Sight:
        """One look at the world for `record`."""
        store = self._parts.store
        started_at, started_wall = store.now(), store.wall_as_of(lookups.last_sent_wall(record))
        reader, instead = await self._readers.of(record, tool)
        told = await self._ask(reader, record, tool, trace, deadline=deadline)
        elsewhere = not isinstance(told.data, Readable) and instead is not None
        if elsewhere:
            told = await self._ask(instead, record, tool, trace, deadline=deadline)
        if not isinstance(told.data, Readable):
            return sighting.blind(record, started_at=started_at, started_wall=started_wall)
        others = await self._rivals.of(record, tool, horizon_s=horizon_s(tool))
        return sighting.see(
            told.data.value,
            tool,
            record,
            started_at=started_at,
            started_wall=started_wall,
            others=others,
            elsewhere=elsewhere,
            older=told.older,
        )

    async def apply(self, sight: Sight, tool: Tool, *, by: str = "lookup", trace_id: str | None = None) -> Record:
        """Fold a sight into the record as it stands now, with the row of what was learned."""
        record, terms = sight.record, lookup_terms(tool)
        if sight.matches:
            settlement = self._settlement(sight, tool, by)
            count = len(sight.matches)
            return await self._keeper.move(
                record,
                lambda r, now: machine.find(
                    r, count, settlement, now=now, attempts=len(record.attempts), fingerprint=record.fingerprint
                ),
                self.rows(record, by=by, trace_id=trace_id),
            )
        if terms is None or not lookups.counts(sight, terms):
            return record
        return await self._keeper.move(
            record,
            lambda r, now: machine.find_nothing(r, version=record.version, now=now, confirm=terms.confirm),
            self.rows(record, by=by, trace_id=trace_id),
        )

    def rows(self, before: Record, *, by: str | None = None, trace_id: str | None = None) -> "_Rows":
        """The settlement row of a record that is settled now and was not before."""
        return _Rows(self._parts, before, by, trace_id)

    def _settlement(self, sight: Sight, tool: Tool, by: str) -> Settlement:
        record = sight.record
        telling = afterwards(self._parts, tool, record, trace_id=None)
        envelope = telling.found(sight.matches[0], record)
        return Settlement(
            by=by,
            wall=self._parts.store.wall(),
            result=store_answer(envelope, telling.identifier),
            code=None if envelope.error is None else envelope.error.code.value,
        )

    async def _ask(
        self,
        reader: Tool | None,
        record: Record,
        tool: Tool,
        trace: ReconcileTrace | CallTrace,
        *,
        deadline: float,
        under: Admission | None = None,
    ) -> _Told:
        """What the look-up is answered, as nobody in particular."""
        lookup = tool.reconcile.lookup
        if lookup is None or reader is None:
            return _Told()
        try:
            # The read that is asked in place of a lost one may want other arguments than these.
            asked = lookup.arguments.render(CallValues(args=record.bodies.arguments, key=tool.key_value(record.key)))
            verdict = validation.accept(reader, asked)
            if not isinstance(verdict, Accepted):
                return _Told()
            rendered = render(reader, CallValues(args=verdict.args, key=""))
        except RenderError:
            return _Told()
        asked_at = self._parts.clock.monotonic()
        until = min(deadline, asked_at + reader.timeouts.total_s)
        outcome = await run_lookup(self._parts, reader, rendered, trace, deadline=until, under=under)
        if not isinstance(outcome, Done) or outcome.code is not None:
            too_large = isinstance(outcome, Done) and outcome.code == ErrorCode.RESULT_TOO_LARGE
            return _Told(data=Misread.TOO_LARGE if too_large else None)
        if outcome.answer is None or outcome.pending:
            return _Told()
        fault = None if reader.result is None else reader.result.fault
        value = read(outcome.answer, fault=fault, max_bytes=reader.limits.result_bytes)
        older = is_older(outcome.answer, self._parts.clock.monotonic() - asked_at)
        return _Told(data=value if isinstance(value, Readable) else value.misread, older=older)


class _Rows:
    """Rows of a reconciliation's move: one when it settled something, none otherwise."""

    def __init__(self, parts: Parts, before: Record, by: str | None, trace_id: str | None) -> None:
        self._parts = parts
        self._before = before
        self._by = by
        self._trace_id = trace_id

    def __call__(self, after: Record) -> tuple[ExecutionRow, ...]:
        if after.state is self._before.state or after.state in OWNED:
            return ()
        if after.state is State.UNKNOWN:
            return ()
        stamp = Stamp(row_id=self._parts.chance.ulid(), at_wall=self._parts.store.wall())
        return (settlement_row(after, stamp, settled_by=self._by, trace_id=self._trace_id),)
