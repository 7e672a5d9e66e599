"""The table of an approval's life, as data. An absent cell is an illegal move and raises."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from gateway.stages.execute.approval.record import Status


class ApprovalEvent(StrEnum):
    """What can happen to an approval."""

    APPROVED = "approved"
    DENIED = "denied"
    LAPSED = "lapsed"
    RESERVED = "reserved"
    """A call claims the operation: in the claim's transaction."""
    SPENT = "spent"
    """The gate before the first byte: in the SENT mark's transaction."""
    NEVER_LEFT = "never_left"
    """The SENT mark was written, and it is proved that no byte followed it."""
    GIVEN_BACK = "given_back"
    """The claim ends with nothing sent: in the transaction that ends it."""
    VOIDED = "voided"
    """Whoever allowed it may not any more: somebody else has to decide."""


APPROVAL_TRANSITIONS: Final[Mapping[Status, Mapping[ApprovalEvent, Status]]] = {
    Status.PENDING: {
        ApprovalEvent.APPROVED: Status.APPROVED,
        ApprovalEvent.DENIED: Status.DENIED,
        ApprovalEvent.LAPSED: Status.EXPIRED,
    },
    Status.APPROVED: {
        ApprovalEvent.RESERVED: Status.RESERVED,
        ApprovalEvent.VOIDED: Status.PENDING,
        ApprovalEvent.LAPSED: Status.EXPIRED,
    },
    Status.RESERVED: {
        ApprovalEvent.SPENT: Status.SPENT,
        ApprovalEvent.GIVEN_BACK: Status.APPROVED,
        # Its claim cannot be sent any more: the gate asks for the time, too.
        ApprovalEvent.LAPSED: Status.EXPIRED,
    },
    Status.SPENT: {
        ApprovalEvent.NEVER_LEFT: Status.RESERVED,
    },
    Status.DENIED: {},
    Status.EXPIRED: {},
}


class ApprovalMoveError(Exception):
    """The table has no such cell, or time does not allow it. Nothing was changed."""

    def __init__(self, status: Status, event: ApprovalEvent) -> None:
        super().__init__(f"{event} cannot happen to an approval that is {status}")
        self.status = status
        self.event = event


def status_after(status: Status, event: ApprovalEvent) -> Status:
    """Where `event` leads from `status`.

    Raises:
        ApprovalMoveError: nowhere.
    """
    found = APPROVAL_TRANSITIONS[status].get(event)
    if found is None:
        raise ApprovalMoveError(status, event)
    return found
