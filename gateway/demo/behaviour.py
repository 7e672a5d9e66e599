"""How the provider is to behave towards the next requests: slow, broken, half-way, or well.

A behaviour is a value; a script is a queue of them for one subject (an order or a customer) and one method.
"""

import asyncio
from collections import deque
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any


class Ending(StrEnum):
    """How the connection goes on after the work is done, or not done."""

    ANSWER = "answer"
    CLOSE = "close"
    """An orderly end without a byte of answer."""
    RESET = "reset"
    """RST instead of an answer."""
    STATUS = "status"
    """Some status instead of the real answer, as a proxy in front would send it."""
    HALF = "half"
    """A 200 that promises more bytes than come."""
    GARBAGE = "garbage"
    """Bytes that are not HTTP."""


class Hold(StrEnum):
    """Where a request waits until it is released."""

    EFFECT = "effect"
    ANSWER = "answer"
    LATE = "late"
    """Only the effect waits; the end comes at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """One request's treatment. The default is a healthy provider.

    Attributes:
        before_s: seconds between the request and the effect.
        after_s: seconds between the effect and the end.
        late_effect_s: the effect comes so many seconds after the end, whatever the end said.
        hold: wait at this point until the control endpoint releases the subject.
        effect: False for a provider that refuses without doing anything.
        status: the status of `Ending.STATUS`.
        retry_after_s: sent as `Retry-After` with it.
    """

    before_s: float = 0.0
    after_s: float = 0.0
    late_effect_s: float = 0.0
    hold: Hold | None = None
    effect: bool = True
    ending: Ending = Ending.ANSWER
    status: int = 502
    retry_after_s: int | None = None

    @property
    def is_late(self) -> bool:
        """Whether the effect comes after the end."""
        return bool(self.late_effect_s) or self.hold is Hold.LATE

    @property
    def is_final(self) -> bool:
        """Whether a refusal is a word about the request: not one about who asks, or about this moment."""
        return 400 <= self.status < 500 and self.status not in {401, 403, 408, 409, 429}


HEALTHY = Behaviour()


def behaviour_from(value: dict[str, Any]) -> Behaviour:
    """Read one behaviour from JSON. Raises ValueError for a field or a word that does not exist."""
    known = {each.name for each in fields(Behaviour)}
    if unknown := set(value) - known:
        raise ValueError(f"no such field of a behaviour: {sorted(unknown)}; there are {sorted(known)}")
    words: dict[str, Any] = dict(value)
    if "ending" in words:
        words["ending"] = Ending(words["ending"])
    if words.get("hold") is not None:
        words["hold"] = Hold(words["hold"])
    return Behaviour(**words)


@dataclass(slots=True, kw_only=True)
class Script:
    """The behaviours of the next requests in order, then the one that stays."""

    next: deque[Behaviour] = field(default_factory=deque)
    then: Behaviour = HEALTHY

    def take(self) -> Behaviour:
        """The behaviour of the request that has just arrived."""
        return self.next.popleft() if self.next else self.then


class Scripts:
    """All scripts, and the gates at which held requests wait."""

    def __init__(self) -> None:
        self._scripts: dict[tuple[str, str], Script] = {}
        self._gates: dict[str, asyncio.Event] = {}

    def put(self, method: str, subject: str, script: Script) -> None:
        """Replace the script for one subject; `*` stands for every subject without its own."""
        self._scripts[method, subject] = script
        self.release(subject)
        self._gates[subject] = asyncio.Event()

    def take(self, method: str, subject: str) -> Behaviour:
        """The behaviour for a request that has just arrived."""
        script = self._scripts.get((method, subject)) or self._scripts.get((method, "*"))
        return script.take() if script else HEALTHY

    def release(self, subject: str) -> None:
        """Let every held request of this subject go on, now and later, until the next script."""
        self._gate(subject).set()

    async def released(self, subject: str) -> None:
        """Wait until `release(subject)`."""
        await self._gate(subject).wait()

    def _gate(self, subject: str) -> asyncio.Event:
        return self._gates.setdefault(subject, asyncio.Event())
