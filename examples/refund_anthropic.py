"""A loop of one's own around Anthropic's API, with the tools of a gateway.

    pip install anthropic httpx
    export ONCEGATE_URL=http://127.0.0.1:8080 ONCEGATE_KEY=og_… ANTHROPIC_API_KEY=sk-ant-…
    python examples/refund_anthropic.py

A call made again is the same operation, so nothing here has to remember what was already done.
"""

import os
from typing import Any

import httpx
from anthropic import Anthropic

GOAL = "Order ORD-8472 was charged twice. Refund 80000 paise of the later payment, and tell me the refund's number."
RUN = {"id": "complaint-8472"}
"""One id for all calls of a task: they are recorded, and their costs counted, under it."""
TURNS = 10

gateway = httpx.Client(
    base_url=os.environ["ONCEGATE_URL"],
    headers={"Authorization": f"Bearer {os.environ['ONCEGATE_KEY']}"},
    timeout=60,
)


def call(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """What became of one call, as a model is told. An HTTP error has the same envelope as a success."""
    answer = gateway.post(f"/v1/tools/{tool}/calls", json={"arguments": arguments, "run": RUN})
    return {"content": answer.text, "is_error": not answer.is_success}


def main() -> None:
    """Ask the model, carry out what it asks for, until it asks for nothing."""
    model = Anthropic()
    tools = gateway.get("/v1/tools", params={"format": "anthropic"}).raise_for_status().json()["data"]["tools"]
    messages: list[Any] = [{"role": "user", "content": GOAL}]
    for _ in range(TURNS):
        answer = model.messages.create(
            model=os.environ.get("MODEL", "claude-sonnet-4-5"), max_tokens=2_000, messages=messages, tools=tools
        )
        messages.append({"role": "assistant", "content": answer.content})
        wanted = [block for block in answer.content if block.type == "tool_use"]
        if not wanted:
            print("".join(block.text for block in answer.content if block.type == "text"))
            return
        results = [
            {"type": "tool_result", "tool_use_id": block.id, **call(block.name, dict(block.input))} for block in wanted
        ]
        messages.append({"role": "user", "content": results})
    print(f"no end after {TURNS} turns")


if __name__ == "__main__":
    main()
