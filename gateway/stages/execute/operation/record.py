"""The operation record: one intention, all its attempts, and who may act on it now.

Times named `_at`, `_until` are seconds of the store's clock (leases, sending, listening); times named `_wall`
are seconds since 1970 UTC (windows of hours and days, dates a person reads).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from gateway.contract.call import Caller
from gateway.contract.quick import quick


class State(StrEnum):
    """Where an operation stands. The two UNKNOWNs differ in one thing: whether its owner's socket is still open."""

    FREE = "free"
    """Known, nobody owns it, nothing of it is in the world."""
    CLAIMED = "claimed"
    """Somebody owns it under a lease; nothing is sent."""
    SENT = "sent"
    """Owned; bytes may have left."""
    LISTENING = "unknown_listening"
    """The caller was told *unknown*; the socket is still open and may yet bring the answer."""
    UNKNOWN = "unknown"
    """Nobody listens any more. Does not expire: only evidence or a person ends it."""
    DONE = "done"
    REFUSED = "refused"
    FROZEN = "frozen"
    """Evidence of more than one effect, or a contradiction: a person must look."""


OWNED: Final = frozenset({State.CLAIMED, State.SENT, State.LISTENING})
"""States in which an owner holds a lease."""
UNSETTLED: Final = frozenset({State.SENT, State.LISTENING, State.UNKNOWN, State.FROZEN})
"""States in which the operation may have had an effect that is not settled: its hold entries stand."""
OPEN: Final = UNSETTLED | {State.CLAIMED}
"""States in which no other call of the same identity may begin."""
RUNNING: Final = frozenset({State.CLAIMED, State.SENT})
"""States in which the owner still works for its caller."""
IN_DOUBT: Final = frozenset({State.LISTENING, State.UNKNOWN})
"""States in which the caller was told *unknown*."""
ENDED: Final = frozenset({State.DONE, State.REFUSED})
"""States with a stored answer, which retention turns into a tombstone."""
SETTLED: Final = ENDED | {State.FROZEN}
"""States that say when and how they were reached. FREE says it where a person's word led there."""


class Knowledge(StrEnum):
    """What is known of one attempt."""

    UNKNOWN = "unknown"
    NOT_SENT = "not_sent"
    REFUSED = "refused"
    DONE = "done"
    VOID = "void"
    """Covered by a negative look-up that counted, or by a person's word."""


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One send of the operation, from its SENT mark on."""

    number: int
    fence: int
    sent_at: float
    sent_wall: float
    acts_until: float
    """After this the provider has finished or dropped the request: send_by + total + grace + provider_max."""
    one_effect: bool
    """Under the downstream key inside its window, or of an idempotent tool: all such attempts are one effect."""
    fingerprint: str
    """Of the material arguments that it was sent with: a FREE record may be claimed with others."""
    key_form: str = ""
    """Tells apart where the key went and how it was written: only under one form is it one key to the downstream."""
    knowledge: Knowledge = Knowledge.UNKNOWN
    code: str | None = None
    status: int | None = None

    def is_one_with(self, other: "Attempt") -> bool:
        """Whether both together are one effect. Attempts that earlier versions stored know no form."""
        same_form = self.key_form == other.key_form or not (self.key_form and other.key_form)
        return self.one_effect and other.one_effect and same_form


@dataclass(frozen=True, slots=True, order=True)
class Hold:
    """One thing in the world that an unsettled write keeps others away from, shared by name across tools."""

    tenant: str
    name: str
    value: str


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Who asked, by which tool and manifest: of the call that claimed the record last, whose request is stored."""

    tenant: str
    subject: str
    operation: str
    tool: str
    tool_version: str
    manifest_digest: str
    effect: str
    keyed: bool
    revision: int = 1
    run_id: str | None = None
    step: int | None = None
    caller_key: str | None = None
    """The caller's own Idempotency-Key; never part of the identity unless the manifest says `fields: caller`."""
    traceparent: str | None = None
    """Of that call, for links from replays and reconciliations."""
    reader_digest: str | None = None
    """Of the manifest of the read that its look-up asks; None: there is none, or nobody kept it."""
    reader_place: str | None = None
    """Whom that read asked then: `RequestTemplate.place`. Another place knows nothing of what was done in this one."""

    def system_caller(self) -> Caller:
        """Who a reconciliation acts as: nobody's permissions, the operation's tenant."""
        return Caller(subject="system", tenant=self.tenant)


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Former:
    """An earlier claim, with other material arguments, of which something was sent: what became of it may yet be heard."""

    fingerprint: str
    origin: Origin
    arguments: Mapping[str, object]


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Bodies:
    """What is sealed at rest and dropped when retention ends."""

    arguments: Mapping[str, object] = field(default_factory=dict)
    """Validated, normalised, defaulted: the only form anything is computed from."""
    request: bytes | None = None
    """The rendered request (see `attempt.render`), stored with the SENT mark: what a replay sends again."""
    baseline: tuple[str | int, ...] = ()
    """Identifiers that the declared look-up saw before the first send of which something may be ours."""
    result: bytes | None = None
    """The stored answer (`normalise.stored.store_answer`), unchanged for ever; there once it is settled."""
    former: tuple[Former, ...] = ()
    """Each of another fingerprint than the record's."""


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One occurrence of one operation.

    Attributes:
        key: the operation key, which goes downstream.
        identity_key: the same without the occurrence; what occurrences have in common.
        operation_id: random, minted with the record; the only handle that telemetry may carry.
        version: rises by one with every stored change; a change applies only to the version it was made from.
        fence: rises with every claim, takeover and replay; an owner with an older fence changes nothing.
        closed_at: when the record last entered UNKNOWN; `settle_after` counts from here.
        fingerprint: of the claim that the record stands for: the last one, or the one that is proved to be done.
        negatives: look-ups in a row, since `closed_at`, that counted as "nothing found".
        outcome_code: REFUSED: the error code; DONE: `done_result_lost` or another code when the result is not whole.
        approval_id: of the approval that the last claim rests on; `approved_until` (wall) is when that lapses.
        repeat_of: the operation that the caller named to be repeated on purpose.
    """

    key: str
    identity_key: str
    occurrence: int
    operation_id: str
    origin: Origin
    fingerprint: str
    holds: tuple[Hold, ...] = ()
    state: State = State.CLAIMED
    version: int = 1
    fence: int = 1
    owner: str | None = None
    lease_until: float = 0.0
    attempts: tuple[Attempt, ...] = ()
    closed_at: float | None = None
    negatives: int = 0
    negative_at: float | None = None
    created_wall: float = 0.0
    settled_wall: float | None = None
    settled_by: str | None = None
    """How it was settled: `attempt`, `late_answer`, `lookup`, `replay`, `operator:<subject>`."""
    evidence: str | None = None
    """What an operator's word rests on, in the operator's own words."""
    outcome_code: str | None = None
    status: int | None = None
    bodies: Bodies = field(default_factory=Bodies)
    approval_id: str | None = None
    approved_until: float | None = None
    repeat_of: str | None = None
    tombstone: bool = False
    """Retention has dropped the bodies; key, occurrence, fingerprint, state and times stay for the window."""

    @property
    def first_sent_wall(self) -> float | None:
        """When the first attempt was marked SENT: the provider's window counts from here."""
        return self.attempts[0].sent_wall if self.attempts else None

    def lease_is_dead(self, now: float) -> bool:
        """Whether the owner must be taken for dead. A dead lease frees nothing that may have been sent."""
        return self.state in OWNED and now >= self.lease_until

    def is_approved_still(self, wall: float) -> bool:
        """Whether the approval that it rests on, if it needed one, has not lapsed."""
        return self.approved_until is None or wall < self.approved_until

    def unknown_attempts(self) -> tuple[Attempt, ...]:
        """Attempts of which nothing is known: while there is one, the operation cannot be free."""
        return tuple(a for a in self.attempts if a.knowledge is Knowledge.UNKNOWN)

    def asked_otherwise(self) -> bool:
        """Whether something was sent of it with other material arguments than those that it stands for."""
        return any(a.fingerprint != self.fingerprint for a in self.attempts)

    def has_done_nothing(self) -> bool:
        """Whether every attempt is proved, by its own end, to have done nothing: what is there now is not ours."""
        return all(a.knowledge in (Knowledge.NOT_SENT, Knowledge.REFUSED) for a in self.attempts)

    def standing_holds(self) -> tuple[Hold, ...]:
        """The hold entries that stand while the record is in its present state."""
        return self.holds if self.state in UNSETTLED else ()

    def __repr__(self) -> str:
        known = ",".join(a.knowledge for a in self.attempts)
        return f"<Record {self.operation_id} {self.state} v{self.version} fence {self.fence} [{known}]>"


def leads_on(before: Record, after: Record) -> bool:
    """Whether a store may put `after` where `before` stands: a later version of the same record, or the same again."""
    return before.key == after.key and (before.version < after.version or before == after)


def is_send(before: Record | None, after: Record) -> bool:
    """Whether a change marks a new attempt as SENT: the one kind of change that holds can keep out."""
    sent_before = 0 if before is None else len(before.attempts)
    return after.state is State.SENT and len(after.attempts) > sent_before
