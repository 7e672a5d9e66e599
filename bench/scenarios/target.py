"""The seam between a scenario and whatever stands in front of the provider.

To run the scenarios against another gateway, write a class with these methods and name it:
`python -m bench.scenarios --target package.module:Class`. A gateway that already listens, and takes
`POST` with the arguments as the body, needs no class: `--target 'http://127.0.0.1:9000/{tool}'`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol


class Kind(StrEnum):
    """What a caller was told about its call."""

    DONE = "done"
    """Carried out, and here is the result."""
    EXECUTED = "executed"
    """Carried out, but the result is not in hand."""
    UNKNOWN = "unknown"
    """It may have been carried out."""
    IN_PROGRESS = "in progress"
    """Somebody else is carrying it out."""
    TURNED_AWAY = "turned away"
    """This call did nothing, for a reason that passes by itself; it says nothing about an earlier call."""
    CONFLICT = "conflict"
    """The operation exists with other arguments."""
    NOT_EXECUTED = "not executed"
    """Nothing was carried out."""
    NOTHING = "no answer"
    """An error from which the caller learns nothing about the effect."""


class Word(StrEnum):
    """What is said about an action that waits for a person."""

    YES = "yes"
    """By somebody who may approve it."""
    NO = "no"
    OWN = "own"
    """A yes, by whoever asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One answer to one call. `code` is the target's own word for an error, if it has one."""

    kind: Kind
    refund_id: str | None = None
    replayed: bool = False
    code: str | None = None

    def __str__(self) -> str:
        """In a few letters, for the table."""
        if self.kind is Kind.DONE:
            return f"{self.refund_id}{' (stored)' if self.replayed else ''}"
        return self.code or str(self.kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call as an agent makes it: a tool of the scenario manifests, and its arguments."""

    tool: str
    arguments: Mapping[str, Any]
    key: str
    """The caller's Idempotency-Key: one for each thing the caller means to happen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a target is started with.

    Attributes:
        provider_url: where the provider listens.
        folder: an empty folder of its own.
        processes: how many gateway processes are to share one store.
        options: settings of ours by their environment name; another target may ignore them.
        manifests: writes other manifests of ours into a folder and returns where; None: the usual ones.
    """

    provider_url: str
    folder: Path
    processes: int = 1
    options: Mapping[str, str] = field(default_factory=dict)
    manifests: Callable[[Path], Path] | None = None


class UnsupportedError(Exception):
    """The target cannot do what the scenario needs, so that the cell stays empty."""


class Target(Protocol):
    """A gateway, or none. `process` counts from 0."""

    async def start(self, setting: Setting) -> None:
        """Come up in front of the provider."""
        ...

    async def call(self, call: Call, *, process: int = 0) -> Told:
        """Make one call and say what the caller was told."""
        ...

    async def burst(self, call: Call, *, clients: int, each: int) -> list[Told]:
        """Make the same call `clients * each` times at once from so many client processes, over all gateway processes."""
        ...

    async def look_now(self, call: Call) -> None:
        """Ask the gateway to look the open operations of this call up at once, if it can be asked."""
        ...

    async def decide(self, call: Call, word: Word) -> bool:
        """Say a word about what waits for one since the last answer to this call; whether it was taken.

        Raises UnsupportedError for a gateway without approvals.
        """
        ...

    async def until_lapsed(self, call: Call) -> None:
        """Wait until that approval is over."""
        ...

    async def kill(self, process: int = 0) -> None:
        """SIGKILL. Raises UnsupportedError for a process that is not ours."""
        ...

    async def restart(self, process: int = 0) -> None:
        """Start a killed process again on the same store."""
        ...

    def pause(self, process: int = 0) -> None:
        """SIGSTOP. Raises UnsupportedError for a process that is not ours."""
        ...

    def resume(self, process: int = 0) -> None:
        """SIGCONT."""
        ...

    async def stop(self) -> None:
        """End everything that was started."""
        ...
