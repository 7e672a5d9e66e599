"""Statuses and reasons."""

from agent_client.status import STATUS_OF, TERMINAL, Reason, Status


def test_L25_every_reason_belongs_to_one_status_and_every_status_has_a_reason() -> None:
    """The table is whole in both directions."""
    assert set(STATUS_OF) == set(Reason)
    assert set(STATUS_OF.values()) == set(Status)


def test_L32_only_running_and_waiting_are_not_the_end() -> None:
    """Eight values, six of them terminal."""
    assert (len(Status), set(Status) - TERMINAL) == (8, {Status.RUNNING, Status.AWAITING_APPROVAL})
