"""The tools of a task."""

from agent_client.toolbox import RUNTIME_TOOLS, toolbox
from gateway.contract.requests import ToolSummary
from tests.agent_client.approving import TOOLS

MARKED = ToolSummary(
    name="pay",
    version="1",
    digest="d",
    title="",
    description="Pay.",
    effect="write",
    arguments={"properties": {"iban": {"type": "string", "x-sensitive": True, "x-normalise": ["trim"]}}},
)


def test_L21_a_toolbox_holds_what_both_the_task_and_the_gateway_have() -> None:
    """The rest is absent, and is named."""
    box = toolbox(["lookup_order", "delete_customer"], TOOLS.values())

    assert (list(box.tools), box.absent) == (["lookup_order"], ("delete_customer",))
    assert (box.effect("lookup_order"), box.effect("delete_customer"), box.effect("issue_refund")) == (
        "read",
        None,
        None,
    )


def test_a_tool_of_the_gateway_cannot_take_the_runtimes_names() -> None:
    """`finish` is ours, whatever a catalogue says."""
    fake = ToolSummary(**{n: getattr(MARKED, n) for n in ToolSummary.__slots__} | {"name": "finish"})

    assert toolbox(["finish"], [fake]).tools == {}


def test_scenario_17_a_model_never_sees_the_gateways_marks_or_a_key() -> None:
    """`x-` members are left out; no schema has an argument for an idempotency key."""
    box = toolbox(["pay"], [MARKED])

    (schema, *own) = box.schemas(["pay", "unknown"])

    assert schema.parameters == {"properties": {"iban": {"type": "string"}}}
    assert [s.name for s in own] == list(RUNTIME_TOOLS) == ["finish", "ask_user", "wait"]
    assert "idempotency" not in str([schema, *own]).lower()
    assert box.sensitive == {"pay": frozenset({"iban"})}
