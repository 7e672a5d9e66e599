"""The bulkhead: how many attempts of one scope run at once, who waits, and how many writes still listen.

Pure counters. `gateway.adapters.memory.limits` puts sleeping callers behind them.
A listener holds no slot: its caller was answered, and only the socket stays open to learn the outcome.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from gateway.contract.quick import quick

WAITERS_PER_SLOT: Final = 10
"""More callers than this wait in vain: they are refused at once."""
LOOKUP_SLOTS: Final = 4
"""Reconciliation looks up in a bulkhead of its own, so that a jam of calls cannot keep unknowns open."""


class Entry(StrEnum):
    ENTERED = "entered"
    QUEUED = "queued"
    QUEUE_FULL = "queue_full"
    LISTENING_FULL = "listening_full"
    """Too many writes wait for their outcome: no new one may add to them."""


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Berth:
    """What a caller asks for.

    Attributes:
        ticket: distinct among the callers of one bulkhead.
        slots: how many may run at once, as this caller's tool says.
        listening: how many may listen; None for a call that will never listen.
    """

    ticket: int
    slots: int
    listening: int | None = None


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Bulkhead:
    running: int = 0
    listening: int = 0
    queue: tuple[Berth, ...] = ()
    """First come, first served."""


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Freed:
    """The bulkhead after somebody left, and the waiters whose wait is over."""

    bulkhead: Bulkhead
    entered: tuple[int, ...] = ()
    """Tickets that hold a slot now."""
    refused: tuple[int, ...] = ()
    """Tickets whose turn came while too many were listening."""


def enter(bulkhead: Bulkhead, berth: Berth) -> tuple[Bulkhead, Entry]:
    """Ask for a slot. Nobody overtakes a waiter."""
    if _listening_full(bulkhead, berth):
        return bulkhead, Entry.LISTENING_FULL
    if not bulkhead.queue and bulkhead.running < berth.slots:
        return Bulkhead(running=bulkhead.running + 1, listening=bulkhead.listening), Entry.ENTERED
    if len(bulkhead.queue) >= WAITERS_PER_SLOT * berth.slots:
        return bulkhead, Entry.QUEUE_FULL
    return replace(bulkhead, queue=(*bulkhead.queue, berth)), Entry.QUEUED


def leave(bulkhead: Bulkhead) -> Freed:
    """Give a slot back."""
    return _admit(Bulkhead(running=bulkhead.running - 1, listening=bulkhead.listening, queue=bulkhead.queue))


def listen(bulkhead: Bulkhead) -> Freed:
    """Turn a slot into a listener. Always possible, because the write is already out."""
    return _admit(replace(bulkhead, running=bulkhead.running - 1, listening=bulkhead.listening + 1))


def fall_silent(bulkhead: Bulkhead) -> Bulkhead:
    """End one listening."""
    return replace(bulkhead, listening=bulkhead.listening - 1)


def abandon(bulkhead: Bulkhead, ticket: int) -> Freed:
    """Take a waiter out of the queue; those behind it move up."""
    return _admit(replace(bulkhead, queue=tuple(berth for berth in bulkhead.queue if berth.ticket != ticket)))


def _admit(bulkhead: Bulkhead) -> Freed:
    if not bulkhead.queue:
        return Freed(bulkhead=bulkhead)
    running, entered, refused = bulkhead.running, list[int](), list[int]()
    for berth in bulkhead.queue:
        if running >= berth.slots:
            break
        if _listening_full(bulkhead, berth):
            refused.append(berth.ticket)
            continue
        running += 1
        entered.append(berth.ticket)
    queue = bulkhead.queue[len(entered) + len(refused) :]
    return Freed(
        bulkhead=replace(bulkhead, running=running, queue=queue), entered=tuple(entered), refused=tuple(refused)
    )


def _listening_full(bulkhead: Bulkhead, berth: Berth) -> bool:
    return berth.listening is not None and bulkhead.listening >= berth.listening
