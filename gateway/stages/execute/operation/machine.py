"""Walks the table: each function takes a record and what happened, and returns the record as it becomes.

Rules: nothing here reads a clock or a store; a function that changes nothing returns the same object; every
state comes from `become.become`, which asks the table; every changed record carries the next version.
"""

from dataclasses import dataclass

from gateway.contract.changed import changed
from gateway.contract.quick import quick
from gateway.stages.execute.operation.become import Changes, Settlement, become
from gateway.stages.execute.operation.claim import Claim, Sending
from gateway.stages.execute.operation.evidence import (
    KNOWLEDGE,
    PROVES_DONE,
    Evidence,
    as_asked,
    covered,
    doubted,
    event_of,
    event_of_find,
    former_of,
    with_known,
)
from gateway.stages.execute.operation.record import (
    UNSETTLED,
    Attempt,
    Bodies,
    Knowledge,
    Record,
    State,
)
from gateway.stages.execute.operation.table import Event, IllegalMoveError


class FencedError(Exception):
    """The caller is no longer the owner: its token or fence is stale, or its lease is dead. Nothing was changed."""


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Ownership:
    """Who acts: the token minted for this claim and the fence it was given."""

    owner: str
    fence: int


def own(record: Record) -> Ownership:
    """The ownership that a record in an owned state grants."""
    if record.owner is None:
        raise FencedError
    return Ownership(owner=record.owner, fence=record.fence)


def claim(record: Record, by: Claim) -> Record:
    """A live call claims a FREE record, or a REFUSED one whose key may not be given up: same occurrence, same key."""
    return _claimed(record, Event.CLAIMED, by)


def take_over(record: Record, by: Claim, *, now: float) -> Record:
    """A live call of the same material arguments takes a CLAIMED record whose owner is dead. Never from SENT."""
    if not record.lease_is_dead(now):
        raise IllegalMoveError(record.state, Event.TAKEN_OVER)
    return _claimed(record, Event.TAKEN_OVER, by)


def pass_gate(record: Record, ownership: Ownership, sending: Sending, *, now: float) -> Record:
    """Mark SENT, before the first byte.

    Raises:
        FencedError: not the owner any more, as after a settlement, or the lease is dead, or the approval has lapsed.
        IllegalMoveError: it is marked already.
    """
    _require_owner(record, ownership, now)
    return _with_attempt(record, Event.GATE_PASSED, sending, now, fence=record.fence)


def pass_replay_gate(
    record: Record, ownership: Ownership | None, sending: Sending, *, owner: str, lease_until: float, now: float
) -> Record:
    """Mark a same-key replay as SENT: a new attempt, lease and fence.

    `ownership` is the running owner's when the record is SENT, None when it is UNKNOWN and anybody may replay.
    Whether a replay is allowed at all (window, time, approval) is `replay.refusal`'s to say, beforehand.
    """
    if record.state is State.SENT:
        if ownership is None:
            raise FencedError
        _require_owner(record, ownership, now)
    if not sending.one_effect:
        raise IllegalMoveError(record.state, Event.REPLAY_GATE_PASSED)
    return _with_attempt(
        record,
        Event.REPLAY_GATE_PASSED,
        sending,
        now,
        {
            "owner": owner,
            "lease_until": lease_until,
            "closed_at": None,
            "negatives": 0,
            "negative_at": None,
        },
        fence=record.fence + 1,
    )


def answer_caller(record: Record, ownership: Ownership) -> Record:
    """The caller is told *unknown* while the socket stays open."""
    _require_token(record, ownership)
    return become(record, Event.CALLER_ANSWERED)


def give_up(record: Record, ownership: Ownership, *, now: float) -> Record:
    """The owner ends with nothing of its claim sent."""
    _require_token(record, ownership)
    return become(record, Event.GAVE_UP, now=now)


def extend(record: Record, ownership: Ownership, *, now: float, lease_until: float) -> Record:
    """The heartbeat. Refused once the lease is dead: somebody may have seen it."""
    _require_owner(record, ownership, now)
    return changed(record, lease_until=lease_until, version=record.version + 1)


def see_dead_lease(record: Record, *, now: float) -> Record:
    """Anybody who meets a dead lease says so: CLAIMED becomes FREE, SENT becomes UNKNOWN, never free."""
    return become(record, Event.OWNER_DIED, now=now) if record.lease_is_dead(now) else record


def learn(
    record: Record,
    number: int,
    evidence: Evidence,
    settlement: Settlement,
    *,
    now: float,
    authoritative: bool = False,
) -> Record:
    """Fold what one attempt's end proves into the record, whoever owns it by now.

    Args:
        authoritative: a refusal answered to a same-key replay, which `replay.is_authoritative` lets count for all.
    """
    if evidence is Evidence.LOST:
        return _lose_contact(record, number, settlement, now)
    attempt = record.attempts[number - 1]
    if attempt.knowledge is Knowledge.DONE:
        return record
    was_unknown = attempt.knowledge is Knowledge.UNKNOWN
    known = changed(attempt, knowledge=KNOWLEDGE[evidence], code=settlement.code, status=settlement.status)
    same = (attempt.knowledge, attempt.code, attempt.status) == (known.knowledge, known.code, known.status)
    after = record if same else with_known(record, known)
    if evidence is Evidence.KEY_USED:
        after = doubted(after, number)
    event = event_of(after, known, evidence, was_unknown=was_unknown, authoritative=authoritative)
    if event is None:
        return record if after is record else changed(after, version=record.version + 1)
    if event in PROVES_DONE:
        after = as_asked(after, attempt.fingerprint)
    return become(after, event, now=now, settlement=settlement)


def find(
    record: Record, matches: int, settlement: Settlement, *, now: float, attempts: int, fingerprint: str
) -> Record:
    """Fold in a positive look-up, begun when the record had `attempts` of them and this `fingerprint`.

    No cell in the table: no change.
    """
    event = event_of_find(record, matches, attempts, fingerprint)
    after = as_asked(record, fingerprint) if event in PROVES_DONE else record
    try:
        return become(after, event, now=now, settlement=settlement)
    except IllegalMoveError:
        return record


def find_nothing(record: Record, *, version: int, now: float, confirm: int) -> Record:
    """Fold a negative that counts (see `lookups.counts`) into the record, which was at `version` as the look-up began.

    A verdict on an older one is dropped: a stale "nothing" would free a record whose next attempt is under way.
    """
    if record.state is not State.UNKNOWN or record.version != version:
        return record
    if record.negatives + 1 < confirm:
        return become(record, Event.FOUND_NOTHING, {"negatives": record.negatives + 1, "negative_at": now})
    return become(covered(record), Event.PROVED_ABSENT, now=now)


def settle_by_operator(
    record: Record, event: Event, settlement: Settlement, *, now: float, evidence: str | None = None
) -> Record:
    """A person's word, with evidence that the caller audits. Refused while somebody still listens, unless DONE."""
    after = record if event is Event.OPERATOR_DONE else covered(record)
    # Also of a record that becomes FREE it is kept who said so, and when: until somebody claims it.
    said: Changes = {"evidence": evidence, "settled_wall": settlement.wall, "settled_by": settlement.by}
    return become(after, event, said, now=now, settlement=settlement)


def _lose_contact(record: Record, number: int, settlement: Settlement, now: float) -> Record:
    attempt = record.attempts[number - 1]
    after = with_known(record, changed(attempt, code=settlement.code, status=settlement.status))
    if record.state in (State.SENT, State.LISTENING) and number == len(record.attempts):
        return become(after, Event.CONTACT_LOST, now=now)
    # Whoever closed the record before did not see the status that its owner got, and `replay.refusal` asks for it.
    in_doubt = record.state in UNSETTLED and attempt.knowledge is Knowledge.UNKNOWN
    news = in_doubt and settlement.status is not None and attempt.status is None
    return changed(after, version=record.version + 1) if news else record


def _with_attempt(
    record: Record, event: Event, sending: Sending, now: float, changes: Changes | None = None, *, fence: int
) -> Record:
    if not record.is_approved_still(sending.wall):
        raise FencedError
    attempt = Attempt(
        number=len(record.attempts) + 1,
        fence=fence,
        sent_at=now,
        sent_wall=sending.wall,
        acts_until=sending.send_by + sending.horizon_s,
        one_effect=sending.one_effect,
        fingerprint=record.fingerprint,
        key_form=sending.key_form,
    )
    baseline = record.bodies.baseline if sending.baseline is None else sending.baseline
    bodies = changed(record.bodies, request=sending.request, baseline=baseline)
    sent: Changes = {**(changes or {}), "fence": fence, "attempts": (*record.attempts, attempt), "bodies": bodies}
    return become(record, event, sent)


def _claimed(record: Record, event: Event, by: Claim) -> Record:
    changes: Changes = {
        "owner": by.owner,
        "fence": record.fence + 1,
        "lease_until": by.lease_until,
        "origin": by.origin,
        "fingerprint": by.fingerprint,
        "holds": by.holds,
        "approval_id": by.approval_id,
        "approved_until": by.approved_until,
        "repeat_of": by.repeat_of,
        # An item that came since the baseline may well be ours. Where that is ruled out, the gate brings a new one.
        "bodies": Bodies(
            arguments=by.arguments,
            baseline=record.bodies.baseline,
            former=former_of(record, without=by.fingerprint),
        ),
    }
    return become(record, event, changes)


def _require_token(record: Record, ownership: Ownership) -> None:
    if record.owner != ownership.owner or record.fence != ownership.fence:
        raise FencedError


def _require_owner(record: Record, ownership: Ownership, now: float) -> None:
    _require_token(record, ownership)
    if record.lease_is_dead(now):
        raise FencedError
