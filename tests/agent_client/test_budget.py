"""Budgets: exact at their edges."""

import pytest

from agent_client.budget import after_observation, before_step, unaffordable
from agent_client.events import StepBegan
from agent_client.status import Reason
from tests.agent_client.states import after, decided, fresh


@pytest.mark.parametrize(
    ("steps", "tokens", "active_s", "reason"),
    [
        (1, 100, 9.9, None),
        (2, 100, 0.0, Reason.STEPS),
        (1, 100, 10.0, Reason.DEADLINE),
        (1, 1_000, 0.0, Reason.TOKENS),
        (1, 999, 0.0, None),
    ],
)
def test_L30_L39_each_budget_ends_the_task_at_its_edge_and_says_which(
    steps: int, tokens: int, active_s: float, reason: Reason | None
) -> None:
    """Steps are asked for before a step only; time and tokens after an observation, too."""
    state = fresh(max_steps=2, active_seconds=10, max_tokens=1_000)
    for step in range(1, steps + 1):
        state = after(state, StepBegan(step=step))
    state = after(state, decided(steps, tokens=(tokens, 0)))

    before, later = before_step(state, active_s), after_observation(state, active_s)

    assert (before.reason if before else None) == reason
    assert (later.reason if later else None) == (None if reason is Reason.STEPS else reason)


def test_T07_what_cannot_be_afforded_says_how_much_is_missing() -> None:
    """Both numbers, for whoever sets the limits."""
    assert "needs 500 tokens and 200 are left" in unaffordable(fresh(max_tokens=200), 500).detail
