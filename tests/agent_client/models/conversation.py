"""One conversation with everything in it that an adapter must translate."""

from agent_client.inference import Message, ModelRequest, Role, ToolRequest, ToolSchema

ORDER = ToolRequest(id="c1", name="lookup_order", arguments='{"order_id": "8472"}')
BROKEN = ToolRequest(id="c2", name="issue_refund", arguments='{"amount": ')
REQUEST = ModelRequest(
    system="You refund.",
    messages=(
        Message(role=Role.USER, text="Order 8472 was charged twice ₹"),
        Message(role=Role.ASSISTANT, text="I look.", tool_calls=(ORDER, BROKEN)),
        Message(role=Role.TOOL, text="two charges", tool_call_id="c1"),
        Message(role=Role.TOOL, text="", tool_call_id="c2"),
        Message(role=Role.USER, text="Go on."),
        Message(role=Role.ASSISTANT),
        Message(role=Role.USER, text="Well?"),
    ),
    tools=(ToolSchema(name="lookup_order", description="Look up.", parameters={"type": "object"}),),
    max_tokens=500,
)
KEY = "sk-planted-secret"
