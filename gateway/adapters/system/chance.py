"""Chance: draws for jitter, identifiers, tokens."""

import random
import secrets
from typing import Final

from gateway.clock import Clock

_CROCKFORD: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LAST: Final = _CROCKFORD[-1]
# Of a random byte the lowest five bits.
_DIGIT_OF_BYTE: Final = "".join(_CROCKFORD[byte & 31] for byte in range(256)).encode()
_TIME_DIGITS: Final = 10
_RANDOM_DIGITS: Final = 16
# One question to the operating system for a hundred identifiers.
_DRAWN: Final = 100 * _RANDOM_DIGITS
_TOKEN_BYTES: Final = 16


class SystemChance:
    """Random numbers from the operating system, and time from `clock` for identifiers that sort by it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._millisecond = -1
        self._time = ""
        self._last = ""
        self._drawn = ""
        self._taken = 0

    def draw(self) -> float:
        """A number in [0, 1), for jitter; not a secret."""
        return random.random()  # noqa: S311 - spreads load, protects nothing

    def ulid(self) -> str:
        """A new identifier of 26 characters (ULID): milliseconds of the wall clock, then 80 random bits.

        Those of one process sort in the order of their making, also within a millisecond and when the clock steps back.
        """
        millisecond = int(self._clock.wall() * 1000)
        if millisecond > self._millisecond:
            self._millisecond = millisecond
            self._time = _written(millisecond)
        made = self._time + self._random()
        self._last = made if made > self._last else _after(self._last)
        return self._last

    def _random(self) -> str:
        if self._taken == len(self._drawn):
            self._drawn = secrets.token_bytes(_DRAWN).translate(_DIGIT_OF_BYTE).decode()
            self._taken = 0
        first = self._taken
        self._taken = first + _RANDOM_DIGITS
        return self._drawn[first : self._taken]

    def token(self) -> str:
        """128 random bits in 32 hexadecimal characters: who holds a lease, and nobody else can guess it."""
        return secrets.token_hex(_TOKEN_BYTES)


def _written(millisecond: int) -> str:
    return "".join([_CROCKFORD[millisecond >> 5 * place & 31] for place in reversed(range(_TIME_DIGITS))])


def _after(digits: str) -> str:
    """The next number of as many digits."""
    kept = digits.rstrip(_LAST)
    return kept[:-1] + _CROCKFORD[_CROCKFORD.index(kept[-1]) + 1] + _CROCKFORD[0] * (len(digits) - len(kept))
