"""Where calls wait for the answer of an identical one, or for a hold to fall."""

import asyncio
from typing import Final

from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope

# The owner's own troubles: a waiter has none of them, and may claim.
_OWNER_ONLY: Final = frozenset({ErrorCode.DEADLINE_BEFORE_SEND, ErrorCode.DEADLINE_TOO_SHORT, ErrorCode.DRAINING})

Answer = Envelope | None
"""What the owner told its own caller; None when that was the owner's alone and the waiter must look for itself."""


class WaitingRoom:
    """One queue an operation, oldest first. In this process: those of other processes poll the record."""

    def __init__(self, seats: int) -> None:
        self._seats = seats
        self._queues: dict[str, list[asyncio.Future[Answer]]] = {}

    def sit(self, key: str) -> asyncio.Future[Answer] | None:
        """A seat that is called when the operation's owner has an answer; None when all are taken."""
        queue = self._queues.setdefault(key, [])
        if len(queue) >= self._seats:
            return None
        seat: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        queue.append(seat)
        return seat

    def rise(self, key: str, seat: asyncio.Future[Answer]) -> None:
        """Leave without an answer."""
        queue = self._queues.get(key, [])
        if seat in queue:
            queue.remove(seat)
        if not queue:
            self._queues.pop(key, None)

    def call(self, key: str, answer: Answer) -> None:
        """Tell everyone who waits for `key`."""
        for seat in self._queues.pop(key, []):
            if not seat.done():
                seat.set_result(answer)

    def waiting(self, key: str) -> int:
        """How many sit there."""
        return len(self._queues.get(key, ()))


def shared(told: Envelope) -> Answer:
    """What those who wait are told: the owner's failure, unless it was its own. A result they read from the record."""
    return None if told.error is None or told.error.code in _OWNER_ONLY else told
