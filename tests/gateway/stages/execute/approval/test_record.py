"""What an approval says of itself."""

import pytest

from gateway.stages.execute.approval.record import ENDED, LIVE, Status
from tests.gateway.stages.execute.approval.samples import LAPSES_WALL, asked, in_status


def test_every_status_is_live_or_has_ended() -> None:
    """Pending, approved and reserved keep others of the same action away; the rest do not."""
    assert {Status.PENDING, Status.APPROVED, Status.RESERVED} == LIVE
    assert set(Status) == LIVE | ENDED
    assert not LIVE & ENDED


@pytest.mark.parametrize(("wall", "over"), [(LAPSES_WALL - 0.001, False), (LAPSES_WALL, True)])
def test_its_time_ends_at_the_moment_it_names(wall: float, over: bool) -> None:  # noqa: FBT001
    """At `expires_wall` it is over, a moment before it is not."""
    assert asked().has_lapsed(wall) is over


def test_a_denial_stands_as_long_as_the_approval_would_have() -> None:
    """After that the action may be asked for anew."""
    denied = in_status(Status.DENIED)
    assert (denied.is_denial(LAPSES_WALL - 1), denied.is_denial(LAPSES_WALL)) == (True, False)
    assert not in_status(Status.PENDING).is_denial(1_500.0)


def test_its_repr_shows_no_arguments() -> None:
    """Identifier, status and version."""
    assert repr(asked()) == "<Approval ap-1 pending v1>"
