"""What a call meets when it looks at the record: every occurrence still kept, not the last one only."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gateway.contract.quick import quick
from gateway.stages.execute.operation.record import OPEN, RUNNING, Hold, Record, State


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Newcomer:
    """What a call brings to the meeting.

    Attributes:
        window_s: `identity.window`; None keeps settled occurrences for ever.
        keeps_answer: False for idempotent effects without a window: once settled they really act again.
        may_have_been_sent: `Idempotency-Attempt` over 1 under another store epoch: an absent record proves nothing.
        repeats: after one was done with other material arguments another may begin, with an approval.
        repeat_of: id of the operation that the call means to repeat.
        key_used_status: a refusal with it may say that the key was used with another body; the key, which keeps no
            refusals, is then not given up. None: it has no such status, or keeps refusals.
    """

    fingerprint: str
    window_s: float | None
    refusal_ttl_s: float
    keeps_answer: bool = True
    may_have_been_sent: bool = False
    repeats: bool = False
    repeat_of: str | None = None
    key_used_status: int | None = None


@quick
@dataclass(frozen=True, slots=True)
class Begin:
    """Nothing stands in the way: claim this occurrence; where one was done before, only with an approval."""

    occurrence: int
    earlier: Record | None = None


@dataclass(frozen=True, slots=True)
class BeginAgain:
    """Claim this FREE record, or this REFUSED one: same occurrence, same downstream key. `earlier` as in `Begin`."""

    record: Record
    earlier: Record | None = None


@dataclass(frozen=True, slots=True)
class TakeOver:
    """Claim this CLAIMED record, whose owner is dead."""

    record: Record


@dataclass(frozen=True, slots=True)
class SeeDead:
    """The owner of this record is dead: say so first, then meet again."""

    record: Record


@quick
@dataclass(frozen=True, slots=True)
class Answered:
    """It was done, or refused a moment ago: the stored answer."""

    record: Record


@dataclass(frozen=True, slots=True)
class Conflict:
    """The identity belongs to a call with other material arguments."""

    record: Record


@dataclass(frozen=True, slots=True)
class Running:
    """An identical call is under way: wait for its answer."""

    record: Record


@dataclass(frozen=True, slots=True)
class InDoubt:
    """Its outcome is unknown: reconcile, never send anew."""

    record: Record


@dataclass(frozen=True, slots=True)
class Frozen:
    """A person must look."""

    record: Record


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The store may have lost the record of an earlier send: look up before acting."""

    occurrence: int


@dataclass(frozen=True, slots=True)
class NotRepeatable:
    """What the call means to repeat is no operation of its identity that was done."""


@dataclass(frozen=True, slots=True)
class Held:
    """Another unsettled write stands on one of the call's holds."""

    hold: Hold
    holder: Record


NoRecord = Begin | Forgotten
OwnRecord = BeginAgain | TakeOver | SeeDead | Answered | Conflict | Running | InDoubt | Frozen
Meeting = NoRecord | OwnRecord | NotRepeatable | Held
MayBegin = Begin | BeginAgain | TakeOver | Forgotten
"""Lets a call make an attempt of its own. Everything else answers it, whatever the rules say now."""


def meet(
    occurrences: Sequence[Record], newcomer: Newcomer, *, now: float, wall_as_of: Callable[[float], float]
) -> NoRecord | OwnRecord | NotRepeatable:
    """Decide what a call does about the occurrences of its identity, oldest first.

    `wall_as_of`: the store's, for a window ends when its time has passed and not when a clock is set forward.

    Equal to one that is done: its answer. Then the open one, if any. Then one that was done with other arguments, one
    that was refused a moment ago, one that is free; then the last one, if its refusal may mean that its key was used.
    """
    kept = [r for r in occurrences if _is_kept(r, newcomer, wall_as_of)]
    if newcomer.repeat_of is not None:
        return _meet_repeat(occurrences, kept, newcomer, now)
    same_and_done = [r for r in kept if r.state is State.DONE and r.fingerprint == newcomer.fingerprint]
    if same_and_done:
        return Answered(same_and_done[-1])
    for record in kept:
        if record.state in OPEN:
            return _meet_open(record, newcomer, now)
    latest = {record.state: record for record in kept}
    earlier = latest.get(State.DONE)
    if earlier is not None and not newcomer.repeats:
        return Conflict(earlier)
    if State.REFUSED in latest:
        return Answered(latest[State.REFUSED])
    if State.FREE in latest:
        return BeginAgain(latest[State.FREE], earlier)
    refused = _whose_key_may_be_used(occurrences, newcomer)
    if refused is not None:
        return BeginAgain(refused, earlier)
    following = 1 + max((r.occurrence for r in occurrences), default=0)
    if earlier is None and newcomer.may_have_been_sent:
        return Forgotten(following)
    return Begin(following, earlier)


def _meet_repeat(
    occurrences: Sequence[Record], kept: Sequence[Record], newcomer: Newcomer, now: float
) -> NoRecord | OwnRecord | NotRepeatable:
    """A repetition on purpose is one operation itself: named again, it is answered from its own record."""
    earlier = next((r for r in occurrences if r.operation_id == newcomer.repeat_of), None)
    if earlier is None or earlier.state is not State.DONE:
        return NotRepeatable()
    its_own = [r for r in kept if r.repeat_of == newcomer.repeat_of]
    done = [r for r in its_own if r.state is State.DONE]
    if done:
        return Answered(done[-1]) if done[-1].fingerprint == newcomer.fingerprint else Conflict(done[-1])
    for record in kept:
        if record.state in OPEN:
            return _meet_open(record, newcomer, now)
    refused = [r for r in its_own if r.state is State.REFUSED]
    if refused:
        return Answered(refused[-1])
    free = {r.state: r for r in kept}.get(State.FREE) or _whose_key_may_be_used(occurrences, newcomer)
    return BeginAgain(free, earlier) if free else Begin(1 + max(r.occurrence for r in occurrences), earlier)


def as_kept(
    meeting: NoRecord | OwnRecord | NotRepeatable, occurrences: Sequence[Record]
) -> NoRecord | OwnRecord | NotRepeatable:
    """The same meeting with its record as the store has it, and not as today's manifest fingerprints it."""
    if not isinstance(meeting, OwnRecord):
        return meeting
    kept = next((r for r in occurrences if r.key == meeting.record.key), meeting.record)
    return meeting if kept is meeting.record else replace(meeting, record=kept)


def meet_holders(
    meeting: Meeting, holds: Sequence[Hold], holders: Sequence[tuple[Hold, Record]], *, now: float
) -> Meeting:
    """A call that may begin still waits for, or is held by, another operation on one of its holds.

    `holders` are the records that hold an entry now.
    """
    if not isinstance(meeting, MayBegin):
        return meeting
    mine = meeting.record.key if isinstance(meeting, BeginAgain | TakeOver) else None
    for hold, holder in holders:
        if hold in holds and holder.key != mine:
            return SeeDead(holder) if holder.lease_is_dead(now) else Held(hold, holder)
    return meeting


def _meet_open(record: Record, newcomer: Newcomer, now: float) -> OwnRecord:
    same = record.fingerprint == newcomer.fingerprint
    if record.lease_is_dead(now):
        # An approval is given back when its claim ends, and reserved with a claim: not both in one move.
        claimed = same and record.state is State.CLAIMED and record.approval_id is None
        return TakeOver(record) if claimed else SeeDead(record)
    if record.state is State.FROZEN and (same or record.asked_otherwise()):
        # Of which of the calls something is in the world, a person must find out: of none may be said that it is not.
        return Frozen(record)
    if not same:
        return Conflict(record)
    return Running(record) if record.state in RUNNING else InDoubt(record)


def _whose_key_may_be_used(occurrences: Sequence[Record], newcomer: Newcomer) -> Record | None:
    """The last occurrence, if its refusal may have said that its key was used: under another it might be done twice."""
    last = max(occurrences, key=lambda r: r.occurrence, default=None)
    if last is None or last.state is not State.REFUSED or newcomer.key_used_status is None:
        return None
    return last if last.status == newcomer.key_used_status else None


def _is_kept(record: Record, newcomer: Newcomer, wall_as_of: Callable[[float], float]) -> bool:
    """Whether a settled occurrence still speaks. A window starts when it settles and never runs while it is open."""
    settled = record.settled_wall
    if record.state is State.DONE and settled is not None:
        if newcomer.window_s is None or not newcomer.keeps_answer:
            return newcomer.keeps_answer
        return wall_as_of(settled) < settled + newcomer.window_s
    if record.state is State.REFUSED and settled is not None:
        same = newcomer.keeps_answer and record.fingerprint == newcomer.fingerprint
        return same and wall_as_of(settled) < settled + newcomer.refusal_ttl_s
    return True
