"""A loop of one's own around OpenAI's API, with the tools of a gateway.

    pip install openai httpx
    export ONCEGATE_URL=http://127.0.0.1:8080 ONCEGATE_KEY=og_… OPENAI_API_KEY=sk-…
    python examples/refund_openai.py

A call made again is the same operation, so nothing here has to remember what was already done.
"""

import json
import os
from typing import Any

import httpx
from openai import OpenAI

GOAL = "Order ORD-8472 was charged twice. Refund 80000 paise of the later payment, and tell me the refund's number."
RUN = {"id": "complaint-8472"}
"""One id for all calls of a task: they are recorded, and their costs counted, under it."""
TURNS = 10

gateway = httpx.Client(
    base_url=os.environ["ONCEGATE_URL"],
    headers={"Authorization": f"Bearer {os.environ['ONCEGATE_KEY']}"},
    timeout=60,
)


def call(tool: str, arguments: dict[str, Any]) -> str:
    """What became of one call, in words for a model. An HTTP error has the same envelope as a success."""
    return gateway.post(f"/v1/tools/{tool}/calls", json={"arguments": arguments, "run": RUN}).text


def main() -> None:
    """Ask the model, carry out what it asks for, until it asks for nothing."""
    model = OpenAI()
    tools = gateway.get("/v1/tools", params={"format": "openai"}).raise_for_status().json()["data"]["tools"]
    messages: list[Any] = [{"role": "user", "content": GOAL}]
    for _ in range(TURNS):
        answer = model.chat.completions.create(
            model=os.environ.get("MODEL", "gpt-5-mini"), messages=messages, tools=tools
        )
        said = answer.choices[0].message
        messages.append(said)
        if not said.tool_calls:
            print(said.content)
            return
        for wanted in said.tool_calls:
            result = call(wanted.function.name, json.loads(wanted.function.arguments))
            messages.append({"role": "tool", "tool_call_id": wanted.id, "content": result})
    print(f"no end after {TURNS} turns")


if __name__ == "__main__":
    main()
