"""What a list is asked for, held against one record or row."""

from gateway.contract.execution import ExecutionRow
from gateway.stages.execute.approval.ports import ApprovalFilter
from gateway.stages.execute.approval.record import Approval
from gateway.stages.execute.operation.ports import OperationFilter, RowFilter
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


def row_matches(row: ExecutionRow, query: RowFilter) -> bool:
    """Whether a row is asked for."""
    return (
        query.tenant == row.tenant
        and query.subject in (None, row.subject)
        and query.run_id in (None, row.run_id)
        and query.tool in (None, row.tool)
        and query.code in (None, row.code)
        and query.operation_id in (None, row.operation_id)
        and query.trace_id in (None, row.trace_id)
        and (query.since_wall is None or row.at_wall >= query.since_wall)
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
