"""What is looked at before a decision."""

from agent_client.steps.observe import observe
from agent_client.task_type import TaskType
from tests.agent_client.states import fresh, one_read


def test_L01_the_outlook_is_the_tasks_own_record_and_what_is_left_of_it() -> None:
    """Budget, tools and state; nothing a model said."""
    state = one_read(fresh(max_tokens=1_000, active_seconds=100), "lookup_order", {"a": 1})

    outlook = observe(state, TaskType("t", tools=["lookup_order"]), active_s=30.0)

    assert (outlook.remaining_s, outlook.remaining_tokens, outlook.offered) == (70.0, 900, ("lookup_order",))
    assert outlook.state is state
