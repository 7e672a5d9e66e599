"""What a list is asked for, held against one record or approval."""

from gateway.stages.execute.approval.ports import ApprovalFilter
from gateway.stages.execute.approval.record import Approval
from gateway.stages.execute.operation.ports import OperationFilter
from gateway.stages.execute.operation.record import Record


def matches(record: Record, query: OperationFilter) -> bool:
    """Whether a record is asked for."""
    return (
        query.tenant == record.origin.tenant
        and (query.states is None or record.state in query.states)
        and query.run_id in (None, record.origin.run_id)
        and query.subject in (None, record.origin.subject)
        and query.tool in (None, record.origin.tool)
    )


def approval_matches(approval: Approval, query: ApprovalFilter) -> bool:
    """Whether an approval is asked for."""
    return (
        query.tenant == approval.tenant
        and (approval.subject == query.subject or approval.approvers in query.permissions)
        and (query.statuses is None or approval.status in query.statuses)
        and query.run_id in (None, approval.run_id)
        and query.tool in (None, approval.tool)
    )
