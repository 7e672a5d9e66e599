"""The settings of one tool, parsed: seconds are floats named `_s`, sizes are bytes, closed sets are enums.

The defaults written here are the defaults of the format; the loader has no others.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class Effect(StrEnum):
    """What repeating a call does to the world."""

    READ = "read"
    """Changes nothing."""
    IDEMPOTENT = "idempotent"
    """Leaves the same end state."""
    WRITE = "write"
    """Acts again."""


class Scope(StrEnum):
    """Within what two equal calls are one operation."""

    GLOBAL = "global"
    """The tenant."""
    RUN = "run"
    SUBJECT = "subject"


class Repeat(StrEnum):
    """What other material arguments meet when an operation of the same identity was done."""

    DENY = "deny"
    APPROVAL = "approval"
    """A person may allow another one, and an equal one that the call asks for with `repeat_of`."""


class Otherwise(StrEnum):
    """What comes of a rule that does not hold."""

    REFUSE = "refuse"
    APPROVAL = "approval"
    """A person is asked."""


class Guards(StrEnum):
    """What a rule stands before."""

    ACCESS = "access"
    """Who may know of the operation at all: before its record is looked at."""
    EXECUTION = "execution"
    """Whether it may be done now: only before a new attempt, never before what was done already."""


class StatusMeaning(StrEnum):
    """What a manifest may say that an HTTP status proves."""

    REFUSED = "refused"
    REFUSED_RETRYABLE = "refused_retryable"
    DONE = "done"
    UNKNOWN = "unknown"


class KeyPlace(StrEnum):
    """Where the downstream expects the key."""

    HEADER = "header"
    BODY = "body"
    QUERY = "query"
    ARGUMENT = "argument"
    """An argument of the upstream tool: the Model Context Protocol itself has no place for a key."""


class KeyFormat(StrEnum):
    """How the downstream expects the key to be written."""

    RAW = "raw"
    QUOTED = "quoted"
    """As a structured-field string: in double quotes (headers only)."""
    UUID = "uuid"


class Caches(StrEnum):
    """Which answers the downstream stores under a key."""

    ALL = "all"
    SUCCESS = "success"


class Rows(StrEnum):
    """When the execution row of a read is durable."""

    GROUPED = "grouped"
    """Committed together with others within 50 ms; a killed process may lose that much."""
    SYNC = "sync"
    """Before the caller is answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What makes two calls the same operation. Of no use for a read, which keeps no record."""

    operation: str
    revision: int = 1
    fields: tuple[str, ...] | Literal["all", "caller"] = "all"
    scope: Scope = Scope.GLOBAL
    window_s: float | None = None
    """From settling. None: for ever for a write; for an idempotent tool, no answer is kept once settled."""
    repeat: Repeat = Repeat.DENY
    refusal_ttl_s: float = 60.0
    """How long the same refused call gets the stored refusal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Seconds. `read_s` ends the caller's wait; a write's attempt itself ends at `total_s + grace_s`."""

    connect_s: float = 2.0
    write_s: float = 2.0
    read_s: float = 5.0
    pool_s: float = 1.0
    total_s: float = 20.0
    grace_s: float = 10.0
    min_send_s: float = 0.25
    """A write is not started with less than `connect_s + min_send_s` left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    max_attempts: int = 4
    """The first attempt included."""
    base_s: float = 1.0
    cap_s: float = 30.0
    budget: float = 0.2
    """Retries a dependency gets for each first attempt, as a share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerPolicy:
    scope: str
    """The dependency that fails as one; tools with the same scope share the breaker. Default: the backend's origin."""
    consecutive: int = 5
    failure_rate: float = 0.5
    window_s: float = 30.0
    min_calls: int = 10
    """Calls in the window before `failure_rate` counts."""
    open_s: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """At most `count` calls in each `per_s` seconds."""

    count: int
    per_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLimits:
    concurrency: int = 20
    """Attempts that run at the same time."""
    listening: int = 50
    """Writes whose caller was answered while their socket stays open."""
    rate: tuple[Rate, ...] = ()
    """Of each caller."""
    tenant_rate: tuple[Rate, ...] = ()
    """Of all callers of one tenant together."""
    total_rate: tuple[Rate, ...] = ()
    """Of everybody together."""
    request_bytes: int = 65536
    result_bytes: int = 65536

    @property
    def is_rated(self) -> bool:
        """Whether any rate holds."""
        return bool(self.rate or self.tenant_rate or self.total_rate)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultView:
    """What of the result the caller sees."""

    select: tuple[str, ...] | None = None
    """Members kept of `data`, or of each of its items if it is a list. None: all."""
    max_items: int | None = None
    """Items kept of `data`, or of each list directly in it. None: all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DownstreamKey:
    """The downstream's idempotency contract, in full, because providers differ."""

    in_: KeyPlace
    name: str
    format: KeyFormat = KeyFormat.RAW
    max_length: int = 255
    window_s: float
    """After this a replay is a new operation: never replay past it."""
    caches: Caches = Caches.SUCCESS
    replay_marker: tuple[str, str] | None = None
    """Header (lower case) and value with which the downstream says that an answer is a stored one."""
    in_progress_status: int = 409
    mismatch_status: int = 422


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownOwner:
    """Who settles the outcomes that nobody can look up, and how."""

    owner: str
    runbook: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    unit: str
    per_call: float
    per_run: float | None = None
    """How many units one run may spend, by whatever tools: with this call it would be more, so it is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deprecated:
    since: str
    use_instead: str | None = None
    remove_after: str | None = None
    """A date, YYYY-MM-DD."""

    def warning(self, name: str) -> str:
        """What callers of the tool `name` are told."""
        instead = "" if self.use_instead is None else f" Use {self.use_instead} instead."
        until = "" if self.remove_after is None else f" It may be removed after {self.remove_after}."
        return f"{name} is deprecated since {self.since}.{instead}{until}"
