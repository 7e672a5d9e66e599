"""The approvals of the store of tests: a shelf that the operation store puts its changes on."""

import copy
from collections.abc import Iterable
from dataclasses import replace

from gateway.adapters.memory.filters import approval_matches
from gateway.stages.execute.approval.ports import ApprovalChange, ApprovalFilter, ApprovalOvertaken
from gateway.stages.execute.approval.record import ENDED, LIVE, Approval


class Approvals:
    """Nothing here waits. Values are copied in and out."""

    def __init__(self) -> None:
        self._kept: dict[str, Approval] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, tenant: str, approval_id: str) -> Approval | None:
        """The tenant's approval of this id."""
        found = self._kept.get(approval_id)
        return None if found is None or found.tenant != tenant else _copy(found)

    def latest(self, tenant: str, action_hash: str) -> Approval | None:
        """The newest one of an action."""
        of_action = [it for it in self._kept.values() if (it.tenant, it.action_hash) == (tenant, action_hash)]
        return _copy(of_action[-1]) if of_action else None

    def matching(self, query: ApprovalFilter) -> tuple[Approval, ...]:
        """Newest first."""
        found = [it for it in reversed(self._kept.values()) if approval_matches(it, query)]
        return _copies(found[: query.limit])

    def lapsed(self, wall: float, limit: int) -> tuple[Approval, ...]:
        """Live ones whose time is over."""
        found = [it for it in self._kept.values() if it.status in LIVE and it.has_lapsed(wall)]
        return _copies(sorted(found, key=lambda it: it.expires_wall)[:limit])

    def refusal(self, change: ApprovalChange) -> ApprovalOvertaken | None:
        """Why a change may not be made."""
        before, after = change.before, change.after
        if before is None:
            other = self.latest(after.tenant, after.action_hash)
            known = self._kept.get(after.approval_id)
            taken = other is not None and other.status in LIVE
            return ApprovalOvertaken(other if taken else known) if taken or known is not None else None
        current = self._kept.get(after.approval_id)
        if current is not None and current.version == before.version:
            return None
        return ApprovalOvertaken(None if current is None else _copy(current))

    def holds(self, change: ApprovalChange) -> bool:
        """Whether exactly this is there already."""
        return self._kept.get(change.after.approval_id) == change.after

    def keep(self, change: ApprovalChange) -> None:
        """Make a change that nothing refuses."""
        self._kept[change.after.approval_id] = _copy(change.after)

    def forget(self, until_wall: float, tool: str | None) -> int:
        """Drop what ended by then."""
        old = [
            it.approval_id
            for it in self._kept.values()
            if it.status in ENDED
            and it.ended_wall is not None
            and it.ended_wall <= until_wall
            and tool in (None, it.tool)
        ]
        self._drop(old)
        return len(old)

    def forget_operation(self, operation_id: str) -> None:
        """Drop what an operation was approved with."""
        self._drop([it.approval_id for it in self._kept.values() if it.operation_id == operation_id])

    def _drop(self, approval_ids: Iterable[str]) -> None:
        for approval_id in approval_ids:
            del self._kept[approval_id]


def _copies(approvals: Iterable[Approval]) -> tuple[Approval, ...]:
    return tuple(_copy(approval) for approval in approvals)


def _copy(approval: Approval) -> Approval:
    return replace(approval, arguments=copy.deepcopy(dict(approval.arguments)))
