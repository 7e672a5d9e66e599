"""Cases on a real gateway, and states made by hand."""

from typing import Any

from agent_client.evaluation import ANY, Case, CaseMaker, Trial
from agent_client.limits import Limits
from agent_client.state import LoopState, PlannedCall, Turn
from agent_client.status import STATUS_OF, Reason, Status
from agent_client.task_type import Call, TaskType
from tests.agent_client.world import CUSTOMER, TOOLS, Stepwise, World, lines_of


def refunding(world: World, *, name: str = "refund", effects: int = 1, **changes: Any) -> CaseMaker:
    """Find, refund, check, tell: on an order of its own; `effects` refunds are right."""

    def make(number: int) -> Case:
        order = f"ORD-{number}"
        reference = (
            Call("lookup_order", order_id=order),
            Call("issue_refund", order_id=order, payment_id="p", amount_paise=1_000),
            Call("get_refund_status", order_id=order),
            Call("notify_customer", customer_id=CUSTOMER, message=ANY),
        )
        return Case(
            **{
                "name": name,
                "task_type": "refund",
                "goal": f"{order} was charged twice.",
                "verify": lambda _: world.refunds(order) == effects,
                "reference": reference,
                "model": lambda: Stepwise(*lines_of(order, "p")),
                **changes,
            }
        )

    return make


def any_refund() -> TaskType:
    """The refund task for whatever order."""
    task = TaskType("refund", system="Resolve the refund.", tools=TOOLS, limits=Limits(max_steps=8))

    @task.done
    def verified(evidence: Any) -> tuple[bool, str]:
        issued = evidence.latest("issue_refund")
        seen = evidence.latest("get_refund_status")
        return any(r["refund_id"] == issued.data["refund_id"] for r in seen.data["refunds"] or ()), "no refund evidence"

    return task


def state_with(*turns: tuple[tuple[str, str], ...], reason: Reason = Reason.VERIFIED, **changes: Any) -> LoopState:
    """A state whose model made these decisions: of each call its tool and its raw arguments."""
    made = tuple(
        Turn(
            step=step,
            text="",
            calls=tuple(
                PlannedCall(call_id=f"call_{step}_{at}", name=name, arguments=raw)
                for at, (name, raw) in enumerate(calls, start=1)
            ),
        )
        for step, calls in enumerate(turns, start=1)
    )
    state = LoopState(task_id="t", task_type="refund", trace_id="0" * 32, goal="g", limits=Limits(), turns=made)
    return state.model_copy(update={"status": STATUS_OF[reason], "reason": reason, **changes})


def trial(case: str = "c", fault: str | None = None, **changes: Any) -> Trial:
    """A completed trial, but for what is given."""
    plain: dict[str, Any] = {
        "case": case,
        "fault": fault,
        "task_id": f"eval-{case}",
        "status": Status.SUCCEEDED,
        "reason": "verified",
        "verified": True,
        "struck": fault is not None,
    }
    return Trial(**{**plain, **changes})
