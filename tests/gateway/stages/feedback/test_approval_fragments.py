"""The pieces of sentences about approvals say what is known, or something true without it."""

import pytest

from gateway.stages.feedback.approval_fragments import APPROVAL_FRAGMENTS
from gateway.stages.feedback.context import Context

KNOWN = Context(approval_id="ap-1", approvers="refunds:approve", lapses_at="2026-10-28T11:14:02Z", state="denied")


@pytest.mark.parametrize(
    ("piece", "known", "unknown"),
    [
        ("approval", "approval ap-1", "the approval"),
        ("approvers", " by somebody with refunds:approve", ""),
        ("entitled", " with refunds:approve", " who may"),
        ("lapses", " (it lapses at 2026-10-28T11:14:02Z)", ""),
        ("stands", "is already denied", "is already decided"),
    ],
)
def test_each_piece(piece: str, known: str, unknown: str) -> None:
    """With the fact and without it."""
    assert APPROVAL_FRAGMENTS[piece](KNOWN) == known
    assert APPROVAL_FRAGMENTS[piece](Context()) == unknown


def test_no_piece_is_forgotten() -> None:
    """The table above has them all."""
    assert set(APPROVAL_FRAGMENTS) == {"approval", "approvers", "entitled", "lapses", "stands"}
