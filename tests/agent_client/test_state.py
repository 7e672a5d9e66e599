"""The state: typed, frozen, and holding what the document lists."""

import pytest
from pydantic import ValidationError

from agent_client.state import ActionStatus, LoopState
from tests.agent_client.states import acted, after, fresh


def test_L13_the_state_holds_every_field_of_the_document() -> None:
    """Under its own names."""
    assert {
        "version", "task_id", "trace_id", "goal", "status", "step_count", "limits", "usage", "evidence",
        "tool_history", "outstanding", "approval",
    } <= set(LoopState.model_fields)  # fmt: skip


def test_it_cannot_be_changed_or_misspelt() -> None:
    """Frozen values, no unknown names."""
    state = fresh()
    with pytest.raises(ValidationError):
        state.status = "SUCCEEDED"  # type: ignore[assignment]
    with pytest.raises(ValidationError):
        LoopState.model_validate({**state.model_dump(), "granted": True})


@pytest.mark.parametrize(
    ("status", "sends", "is_open"),
    [
        (ActionStatus.INTENDED, 1, True),
        (ActionStatus.PROPOSED, 1, True),
        (ActionStatus.PROPOSED, 0, False),
        (ActionStatus.APPROVED, 0, False),
        (ActionStatus.EXECUTED, 0, False),
        (ActionStatus.VERIFIED, 0, False),
    ],
)
def test_L58_an_action_is_open_while_it_may_have_been_sent_without_an_answer(
    status: ActionStatus, sends: int, *, is_open: bool
) -> None:
    """That, and nothing else, is reconciled first."""
    state = after(fresh(), acted("c", status=status, sends=sends))

    assert bool(state.open_actions) is is_open
    assert state.action("c") == state.outstanding[0]
    assert state.action("d") is None
