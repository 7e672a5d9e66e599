"""The request of one inference: affordable, allowed, and rendered from the state."""

from typing import Any

from agent_client.events import Finished
from agent_client.inference import ModelRequest
from agent_client.limits import Limits
from agent_client.status import Reason
from agent_client.steps.construct import MIN_REPLY_TOKENS, construct
from agent_client.steps.observe import observe
from agent_client.task_type import Stage, TaskType
from agent_client.tokens import estimate
from agent_client.toolbox import toolbox
from tests.agent_client.approving import TOOLS
from tests.agent_client.states import fresh, one_read

BOX = toolbox(TOOLS, TOOLS.values())


def made(state: Any, task: TaskType | None = None, active_s: float = 0.0) -> ModelRequest | Finished:
    """The request of a state."""
    task = task or TaskType("refund", system="Resolve it.", tools=tuple(TOOLS))
    return construct(observe(state, task, active_s), task, BOX)


def test_L02_only_allowed_tools_are_shown_with_the_runtimes_own() -> None:
    """The catalogue may hold more; the task's list decides, in its order."""
    task = TaskType("refund", tools=["get_refund_status", "lookup_order"])

    request = made(fresh(), task)

    assert isinstance(request, ModelRequest)
    assert [t.name for t in request.tools] == ["get_refund_status", "lookup_order", "finish", "ask_user", "wait"]


def test_L82_the_tools_that_are_offered_depend_on_what_is_known() -> None:
    """Investigating: reads. Once the order is known: the refund. Nothing else, whatever the model wants."""
    task = TaskType(
        "refund",
        tools=["lookup_order", "issue_refund"],
        stages=(
            Stage(name="investigating", tools=("lookup_order",), until=lambda e: e.latest("lookup_order").ok),
            Stage(name="proposing", tools=("issue_refund",)),
        ),
    )
    before, after = made(fresh(), task), made(one_read(fresh(), "lookup_order", {"a": 1}, order_id="1"), task)

    assert isinstance(before, ModelRequest)
    assert isinstance(after, ModelRequest)
    assert [t.name for t in before.tools][:1] == ["lookup_order"]
    assert [t.name for t in after.tools][:1] == ["issue_refund"]


def test_L02_the_prompt_stays_within_its_budget_however_long_the_task() -> None:
    """Forty large results: the estimate of everything sent is below `max_prompt_tokens`."""
    state = fresh(max_steps=50, max_prompt_tokens=3_000)
    for n in range(40):
        state = one_read(state, "lookup_order", {"text": "x" * 900, "n": n}, order_id=str(n))

    request = made(state)

    assert isinstance(request, ModelRequest)
    shown = sum(estimate(m.text, *(c.arguments for c in m.tool_calls)) for m in request.messages)
    assert shown + estimate(request.system) < 3_000
    assert "Earlier steps, summarised" in request.messages[1].text


def test_T07_the_reply_gets_what_is_left_and_never_less_than_a_call_needs() -> None:
    """Near the end replies are shorter; below the least there is no inference at all."""
    usual = made(fresh())
    assert isinstance(usual, ModelRequest)
    assert usual.max_tokens == 1_024

    tight = made(fresh(max_tokens=1_400))
    assert isinstance(tight, ModelRequest)
    assert MIN_REPLY_TOKENS <= tight.max_tokens < 1_024

    none = made(fresh(max_tokens=200))
    assert isinstance(none, Finished)
    assert none.reason is Reason.TOKENS


def test_a_reply_may_be_as_long_as_the_limits_say() -> None:
    """`max_reply_tokens`, where there is enough left."""
    request = made(fresh(max_reply_tokens=333))

    assert isinstance(request, ModelRequest)
    assert request.max_tokens == 333


def test_the_wait_for_a_reply_ends_with_the_tasks_own_time() -> None:
    """`inference_seconds`, or what is left of the active deadline."""
    hasty = fresh().model_copy(update={"limits": Limits(inference_seconds=7)})
    requests = (made(fresh(), active_s=0.0), made(fresh(), active_s=290.0), made(hasty, active_s=0.0))

    assert [r.timeout_s for r in requests if isinstance(r, ModelRequest)] == [60.0, 10.0, 7.0]
