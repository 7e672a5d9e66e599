"""Where a gateway is killed: the rows of the crash table, and what each one leaves behind."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

PLAIN: Final = "issue_refund_plain"
KEYED: Final = "issue_refund_keyed"
LOOKUP: Final = "issue_refund_lookup"
TOOLS: Final = (PLAIN, KEYED, LOOKUP)


class Point(StrEnum):
    """A moment in the life of a write."""

    BEFORE_CLAIM = "before CLAIM"
    CLAIM_DURABLE = "CLAIM durable, not returned"
    BEFORE_CONNECT = "after CLAIM, before connect"
    CONNECTING = "during connect"
    CONNECTED = "connected, before the SENT mark"
    MARKED = "SENT mark durable, no byte sent"
    BEFORE_BOTH = "before CLAIM and SENT mark in one commit"
    BOTH_DURABLE = "CLAIM and SENT mark durable in one commit, not returned"
    WRITING = "as the first bytes go out"
    HALF_WRITTEN = "half of the request delivered"
    DELIVERED = "delivered, not yet acted on"
    ACTED = "acted on, not yet answered"
    ANSWERED = "answer received, before FINISH"
    FINISH_DURABLE = "FINISH durable, not returned"
    ANSWER_LOST = "answer to the client lost"
    LISTENING = "listening, client told unknown"
    REPLAY_MARKED = "background replay, SENT again"
    REPLAY_ANSWERED = "background replay answered"
    LOOKING = "background look-up begun"
    LOOKED = "background look-up answered"


class Killer(StrEnum):
    """Who pulls the trigger."""

    TRAP = "trap"
    """The process itself, once every operation under watch has come to the point."""
    EFFECT_HELD = "effect held"
    """The test, once the provider has every request and acts on none; they are let go afterwards."""
    ANSWER_HELD = "answer held"
    """The test, once the provider has acted on every request and answered none."""
    TOLD_UNKNOWN = "told unknown"
    """The test, once every client was told *unknown*."""
    TRICKLE = "trickle"
    """The test, once half of every request has come through a relay that reads no further."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of the table.

    Attributes:
        leaves: the states a record may have right after the kill (`absent`: no record).
        effects: how many effects may be in the ledger before anybody calls again.
        targets: the tools that can come to the point; the others are in flight beside them.
        person: plain writes are settled by a person here, since nobody else can know.
        background: the point lies after the client's answer, in a reconciliation.
    """

    point: Point
    killer: Killer = Killer.TRAP
    leaves: frozenset[str]
    effects: frozenset[int]
    targets: tuple[str, ...] = TOOLS
    person: bool = False
    background: bool = False


_NOTHING, _ONE, _EITHER = frozenset({0}), frozenset({1}), frozenset({0, 1})
_CLAIMED = frozenset({"claimed", "free"})
_SENT = frozenset({"sent", "unknown"})
_DOUBT = frozenset({"unknown"})

ROWS: Final = (
    Row(point=Point.BEFORE_CLAIM, leaves=frozenset({"absent"}), effects=_NOTHING),
    Row(point=Point.CLAIM_DURABLE, leaves=_CLAIMED, effects=_NOTHING),
    Row(point=Point.BEFORE_CONNECT, leaves=_CLAIMED, effects=_NOTHING),
    Row(point=Point.CONNECTING, leaves=_CLAIMED, effects=_NOTHING),
    Row(point=Point.CONNECTED, leaves=_CLAIMED, effects=_NOTHING),
    Row(point=Point.MARKED, leaves=_SENT, effects=_NOTHING, person=True),
    Row(point=Point.BEFORE_BOTH, leaves=frozenset({"absent"}), effects=_NOTHING, targets=(PLAIN, KEYED)),
    Row(point=Point.BOTH_DURABLE, leaves=_SENT, effects=_NOTHING, targets=(PLAIN, KEYED), person=True),
    Row(point=Point.WRITING, leaves=_SENT, effects=_EITHER, person=True),
    Row(point=Point.HALF_WRITTEN, killer=Killer.TRICKLE, leaves=_SENT, effects=_NOTHING, person=True),
    Row(point=Point.DELIVERED, killer=Killer.EFFECT_HELD, leaves=_SENT, effects=_ONE, person=True),
    Row(point=Point.ACTED, killer=Killer.ANSWER_HELD, leaves=_SENT, effects=_ONE, person=True),
    Row(point=Point.ANSWERED, leaves=_SENT, effects=_ONE, person=True),
    Row(point=Point.FINISH_DURABLE, leaves=frozenset({"done"}), effects=_ONE),
    Row(point=Point.ANSWER_LOST, leaves=frozenset({"done"}), effects=_ONE),
    Row(point=Point.LISTENING, killer=Killer.TOLD_UNKNOWN, leaves=_DOUBT, effects=_ONE, person=True),
    Row(point=Point.REPLAY_MARKED, leaves=_SENT, effects=_ONE, targets=(KEYED,), person=True, background=True),
    Row(point=Point.REPLAY_ANSWERED, leaves=_SENT, effects=_ONE, targets=(KEYED,), person=True, background=True),
    Row(point=Point.LOOKING, leaves=_DOUBT, effects=_ONE, targets=(LOOKUP,), person=True, background=True),
    Row(point=Point.LOOKED, leaves=_DOUBT, effects=_ONE, targets=(LOOKUP,), person=True, background=True),
)
