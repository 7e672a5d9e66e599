"""The pieces of sentences about approvals."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from gateway.stages.feedback.context import Context


def _approval(context: Context) -> str:
    return f"approval {context.approval_id}" if context.approval_id else "the approval"


def _approvers(context: Context) -> str:
    return f" by somebody with {context.approvers}" if context.approvers else ""


def _entitled(context: Context) -> str:
    return f" with {context.approvers}" if context.approvers else " who may"


def _lapses(context: Context) -> str:
    return f" (it lapses at {context.lapses_at})" if context.lapses_at else ""


def _stands(context: Context) -> str:
    return f"is already {context.state}" if context.state else "is already decided"


APPROVAL_FRAGMENTS: Final[Mapping[str, Callable[[Context], str]]] = MappingProxyType(
    {
        "approval": _approval,
        "approvers": _approvers,
        "entitled": _entitled,
        "lapses": _lapses,
        "stands": _stands,
    }
)
