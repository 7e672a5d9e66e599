"""Where calls wait for the answer of an identical one, or for a hold to fall."""

import asyncio
from typing import Final

from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope

# The owner's own troubles: a waiter has none of them, and may claim.
_OWNER_ONLY: Final = frozenset({ErrorCode.DEADLINE_BEFORE_SEND, ErrorCode.DEADLINE_TOO_SHORT, ErrorCode.DRAINING})


class WaitingRoom:
    """One queue an operation, oldest first. In this process: those of other processes poll the record."""

    def __init__(self, seats: int) -> None:
        self._seats = seats
        self._queues: dict[str, list[asyncio.Future[Envelope | None]]] = {}

    def sit(self, key: str) -> asyncio.Future[Envelope | None] | None:
        """A seat that is called when the operation's owner has an answer; None when all are taken."""
        queue = self._queues.setdefault(key, [])
        if len(queue) >= self._seats:
            return None
        seat: asyncio.Future[Envelope | None] = asyncio.get_running_loop().create_future()
        queue.append(seat)
        return seat

    def rise(self, key: str, seat: asyncio.Future[Envelope | None]) -> None:
        """Leave without an answer."""
        queue = self._queues.get(key, [])
        if seat in queue:
            queue.remove(seat)
        if not queue:
            self._queues.pop(key, None)

    def call(self, key: str, answer: Envelope | None) -> None:
        """Tell everyone who waits for `key` what the owner told its own caller; None: that was the owner's alone."""
        for seat in self._queues.pop(key, []):
            if not seat.done():
                seat.set_result(answer)

    def waiting(self, key: str) -> int:
        """How many sit there."""
        return len(self._queues.get(key, ()))


def shared(told: Envelope) -> Envelope | None:
    """The owner's failure, as those who wait are told of it. None: it is its own, or a result; they look at the record."""
    return None if told.error is None or told.error.code in _OWNER_ONLY else told
