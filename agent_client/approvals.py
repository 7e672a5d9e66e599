"""A suspended task: what the gateway says of its approval, and what follows. Decided there, never here."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from agent_client.events import Finished, Woken
from agent_client.ports import GatewayRefused, GatewayUnreachable, ToolGateway
from agent_client.state import Approval
from agent_client.status import Reason
from agent_client.steps.execute.settling import MAX_REQUESTS
from agent_client.wire import ApprovalState, ApprovalView


class Ruling(StrEnum):
    """What a look at an approval means for the task."""

    WAITING = "waiting"
    GRANTED = "granted"
    """For exactly this action. It is still validated and authorised again before it runs."""
    LAPSED = "lapsed"
    """Expired, gone, or for another action."""
    DENIED = "denied"


_BY_STATE: Final[Mapping[ApprovalState, Ruling]] = MappingProxyType(
    {
        ApprovalState.PENDING: Ruling.WAITING,
        ApprovalState.APPROVED: Ruling.GRANTED,
        ApprovalState.RESERVED: Ruling.GRANTED,
        # Spent by this very action: the call is then answered from its record.
        ApprovalState.SPENT: Ruling.GRANTED,
        ApprovalState.DENIED: Ruling.DENIED,
        ApprovalState.EXPIRED: Ruling.LAPSED,
    }
)


def ruling_of(approval: Approval, view: ApprovalView | None) -> Ruling:
    """What a look means. An approval of another action is none of this one."""
    if view is None:
        return Ruling.LAPSED
    ruling = _BY_STATE[view.state]
    return Ruling.LAPSED if ruling is Ruling.GRANTED and view.action_hash != approval.action_hash else ruling


async def look(gateway: ToolGateway, approval: Approval) -> tuple[Ruling, ApprovalView | None]:
    """Ask the gateway. While it does not say, the task waits on."""
    try:
        view = await gateway.approval(approval.id)
    except (GatewayUnreachable, GatewayRefused):
        return Ruling.WAITING, None
    return ruling_of(approval, view), view


def awakening(
    approval: Approval, ruling: Ruling, view: ApprovalView | None, now_wall: float
) -> tuple[Woken, Finished | None]:
    """The end of the suspension, and the end of the task where it is one. Not for WAITING."""
    woken = Woken(call_id=approval.call_id, granted=ruling is Ruling.GRANTED, at_wall=now_wall)
    if ruling is Ruling.DENIED:
        by = f" by {view.decided_by}" if view is not None and view.decided_by else ""
        note = f": {view.note}" if view is not None and view.note else ""
        return woken, Finished(reason=Reason.APPROVAL_DENIED, detail=f"approval {approval.id} was denied{by}{note}")
    if ruling is Ruling.LAPSED and approval.requests >= MAX_REQUESTS:
        detail = (
            f"approval {approval.id} lapsed, after it was asked for {approval.requests} times; the case needs a person"
        )
        return woken, Finished(reason=Reason.APPROVAL_EXPIRED, detail=detail)
    return woken, None
