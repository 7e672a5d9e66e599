"""Records in any state and with any attempts, for the tests of this package."""

from dataclasses import replace
from typing import Any, Final

from gateway.stages.execute.operation.become import Settlement
from gateway.stages.execute.operation.claim import Claim, Sending
from gateway.stages.execute.operation.machine import Ownership
from gateway.stages.execute.operation.record import OWNED, Attempt, Bodies, Hold, Knowledge, Origin, Record, State

NOW: Final = 100.0
"""Store clock."""
LEASE_END: Final = 130.0
SEND_BY: Final = 110.0
HORIZON_S: Final = 50.0
WALL: Final = 1_790_000_000.0
"""When the first attempt was sent, seconds since 1970."""

HOLD: Final = Hold("acme", "order", '"A1"')
ORIGIN: Final = Origin(
    tenant="acme",
    subject="agent-7",
    operation="act",
    tool="act",
    tool_version="1.0.0",
    manifest_digest="sha256:old",
    effect="write",
    keyed=True,
    run_id="run-1",
)
MINE: Final = Ownership(owner="owner", fence=3)
STALE: Final = Ownership(owner="owner", fence=2)
STRANGER: Final = Ownership(owner="stranger", fence=3)

SETTLEMENT: Final = Settlement(by="attempt", wall=WALL + 5.0, result=b'{"id":"r1"}', code="partial", status=200)


def tried(*known: Knowledge, one_effect: bool = False, fingerprint: str = "f") -> tuple[Attempt, ...]:
    """Attempts, first to last, of which this is known."""
    return tuple(
        Attempt(
            number=number,
            fence=number,
            sent_at=NOW,
            sent_wall=WALL + number - 1,
            acts_until=SEND_BY + HORIZON_S,
            one_effect=one_effect,
            fingerprint=fingerprint,
            knowledge=knowledge,
        )
        for number, knowledge in enumerate(known, start=1)
    )


def record(state: State, attempts: tuple[Attempt, ...] = (), **changes: Any) -> Record:
    """A record as it stands in `state`: owned by MINE where that state has an owner."""
    owned = state in OWNED
    made = Record(
        key="key-1",
        identity_key="identity",
        occurrence=1,
        operation_id="01J",
        origin=ORIGIN,
        fingerprint="f",
        holds=(HOLD,),
        state=state,
        version=7,
        fence=3,
        owner="owner" if owned else None,
        lease_until=LEASE_END if owned else 0.0,
        attempts=attempts,
        closed_at=NOW if state is State.UNKNOWN else None,
        bodies=Bodies(arguments={"order": "A1"}, request=b"POST" if attempts else None),
    )
    return replace(made, **changes)


def sending(*, one_effect: bool = False, baseline: tuple[str | int, ...] | None = None) -> Sending:
    """What a gate writes."""
    return Sending(
        send_by=SEND_BY, horizon_s=HORIZON_S, wall=WALL, one_effect=one_effect, request=b"POST /acts", baseline=baseline
    )


def claim_by(owner: str = "heir", *, fingerprint: str = "f") -> Claim:
    """What another call brings: of another subject, under a newer manifest, on another order."""
    return Claim(
        owner=owner,
        lease_until=LEASE_END + 30.0,
        origin=replace(ORIGIN, subject="agent-8", tool_version="1.1.0", manifest_digest="sha256:new", keyed=False),
        arguments={"order": "A2"},
        fingerprint=fingerprint,
        holds=(Hold("acme", "order", '"A2"'),),
    )
