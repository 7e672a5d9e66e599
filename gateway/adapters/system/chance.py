"""Chance: draws for jitter, identifiers, tokens."""

import random
import secrets
from typing import Final

from gateway.clock import Clock

_CROCKFORD: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ULID_LENGTH = 26
# Two characters at a time halve the work.
_PAIRS: Final = tuple(high + low for high in _CROCKFORD for low in _CROCKFORD)
_SHIFTS: Final = range(10 * (_ULID_LENGTH // 2 - 1), -1, -10)
_RANDOM_BITS = 80
_RANDOM_BYTES = _RANDOM_BITS // 8
_TOKEN_BYTES = 16


class SystemChance:
    """Random numbers from the operating system, and time from `clock` for identifiers that sort by it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = 0
        self._fresh = b""

    def draw(self) -> float:
        """A number in [0, 1), for jitter; not a secret."""
        return random.random()  # noqa: S311 - spreads load, protects nothing

    def ulid(self) -> str:
        """A new identifier of 26 characters (ULID): milliseconds of the wall clock, then 80 random bits.

        Those of one process sort in the order of their making, also within a millisecond and when the clock steps back.
        """
        value = (int(self._clock.wall() * 1000) << _RANDOM_BITS) | self._randbits()
        self._last = value if value > self._last else self._last + 1
        last = self._last
        return "".join([_PAIRS[last >> shift & 1023] for shift in _SHIFTS])

    def _randbits(self) -> int:
        if not self._fresh:
            # One question to the operating system for a hundred identifiers.
            self._fresh = secrets.token_bytes(100 * _RANDOM_BYTES)
        taken, self._fresh = self._fresh[:_RANDOM_BYTES], self._fresh[_RANDOM_BYTES:]
        return int.from_bytes(taken, "big")

    def token(self) -> str:
        """128 random bits in 32 hexadecimal characters: who holds a lease, and nobody else can guess it."""
        return secrets.token_hex(_TOKEN_BYTES)
