"""What a new boot makes of a record's times."""

from dataclasses import replace

import pytest

from gateway.stages.execute.operation.rebase import rebase
from gateway.stages.execute.operation.record import Attempt, Origin, Record, State

ATTEMPT = Attempt(
    number=1, fence=1, sent_at=900.0, sent_wall=5_000.0, acts_until=925.0, one_effect=True, fingerprint="f"
)
RECORD = Record(
    key="k",
    identity_key="i",
    occurrence=1,
    operation_id="o",
    origin=Origin(
        tenant="t",
        subject="s",
        operation="o",
        tool="o",
        tool_version="1",
        manifest_digest="d",
        effect="write",
        keyed=True,
    ),
    fingerprint="f",
    state=State.UNKNOWN,
    version=7,
    attempts=(ATTEMPT,),
    closed_at=930.0,
    negatives=1,
    negative_at=940.0,
    created_wall=4_999.0,
)


def test_everything_begins_anew() -> None:
    """An attempt may act for its whole horizon again, `settle_after` starts over, and the change is a version."""
    rebased = rebase(RECORD, now=12.0, lease_s=30.0)

    assert rebased == replace(
        RECORD,
        version=8,
        attempts=(replace(ATTEMPT, sent_at=12.0, acts_until=37.0),),
        closed_at=12.0,
        negatives=0,
        negative_at=None,
    )


@pytest.mark.parametrize("state", [State.CLAIMED, State.SENT, State.LISTENING])
def test_a_lease_runs_its_full_length_again(state: State) -> None:
    """Whoever owned the record is taken for dead only a lease later."""
    owned = replace(RECORD, state=state, owner="owner", lease_until=931.0, closed_at=None)

    rebased = rebase(owned, now=12.0, lease_s=30.0)

    assert rebased.lease_until == 42.0
    assert rebased.closed_at is None
    assert not rebased.lease_is_dead(41.9)


def test_wall_times_stay() -> None:
    """Dates and the provider's window do not begin anew."""
    rebased = rebase(RECORD, now=12.0, lease_s=30.0)

    assert rebased.first_sent_wall == RECORD.first_sent_wall
    assert rebased.created_wall == RECORD.created_wall


def test_a_horizon_is_never_negative() -> None:
    """An attempt whose end lies before its start acts until now, not before."""
    odd = replace(RECORD, attempts=(replace(ATTEMPT, acts_until=100.0),))

    assert rebase(odd, now=12.0, lease_s=30.0).attempts[0].acts_until == 12.0
