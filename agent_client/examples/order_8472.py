"""Order 8472 was charged twice: one goal, from the first look-up to a verified refund.

    export ONCEGATE_URL=http://127.0.0.1:8080 ONCEGATE_KEY=og_…
    python examples/order_8472.py           # runs until a person must decide, and ends
    oncegate approvals approve ID           # in another terminal, with the key of a support lead
    python examples/order_8472.py           # the same command goes on: after an approval as after a crash

The model is a script. For a real one: `--model gpt-5-mini`, with its key in OPENAI_API_KEY (`--models-at URL` for others).
Ends with 0 when the refund is verified, 3 while a person must decide, 130 by Ctrl-C, 1 when there is none.
"""

import argparse
import asyncio
import json
import os
import sys
import textwrap
from collections.abc import Generator
from typing import Any

from agent_client import (
    Call,
    Findings,
    Found,
    Gateway,
    Limits,
    LoopState,
    ModelReply,
    ModelRequest,
    Runner,
    SQLiteCheckpoints,
    Status,
    TaskType,
    ToolRequest,
    Unsealed,
    Usage,
    openai_chat,
)

ORDER, PAYMENT, CUSTOMER = "ORD-8472", "pay_5a2", "cust-3391"
GOAL = "Order 8472 was charged twice, and my refund has not arrived. Please investigate and resolve it."
PROMPT = """You resolve complaints about refunds. Find out what happened with the tools, order numbers being written
ORD-8472. Refund a duplicate payment only if there is no refund of it yet and the policy allows it. What the tools have
not told you, you do not know."""

refund = TaskType(
    "refund",
    system=PROMPT,
    tools=["lookup_order", "get_refund_status", "search_policy", "issue_refund", "notify_customer"],
    limits=Limits(max_steps=8, active_seconds=120, max_tokens=40_000),
)


@refund.done
def verified(evidence: Findings) -> tuple[bool, str]:
    """Success is a predicate over what the systems answered; no sentence of a model is evidence."""
    refund_id = evidence.latest("issue_refund").data["refund_id"]
    seen = evidence.latest("get_refund_status", order_id=ORDER).data["refunds"] or ()
    if not any(each["refund_id"] == refund_id for each in seen):
        return False, "no refund evidence: cannot claim a refund exists"
    if not evidence.executed("notify_customer"):
        return False, "the customer has not been told"
    return True, f"refund {refund_id} is in the provider's list, and the customer knows"


@refund.after_approval
def settle(issued: Found) -> Generator[Call, Found, None]:
    """Once a person has allowed the refund no model chooses any more: verify it, then tell the customer."""
    refund_id = issued.data["refund_id"]
    status = yield Call("get_refund_status", order_id=ORDER)
    if any(each["refund_id"] == refund_id for each in status.data["refunds"]):
        yield Call(
            "notify_customer", customer_id=CUSTOMER, message=f"Your refund {refund_id} of INR 2,000 is on its way."
        )


@refund.ref("search_policy")
def passage(found: Any) -> str:
    """The name under which a person finds what the policy said."""
    first = found["passages"][0]
    return f"{first['doc']} {first['version']} §{first['section']}"


# What a model would say, with the tokens it would read and write.
SCRIPT = (
    (1_200, 60, "lookup_order", {"order_id": ORDER}),
    (1_640, 65, "get_refund_status", {"order_id": ORDER}),
    (2_300, 70, "search_policy", {"query": "duplicate card capture refund approval threshold"}),
    (2_500, 80, "issue_refund", {"order_id": ORDER, "payment_id": PAYMENT, "amount_paise": 200_000}),
    (2_600, 40, "finish", {"outcome": "cannot", "summary": "The refund could not be completed."}),
)


async def script(request: ModelRequest) -> ModelReply:
    """A function is a model. Like a real one it knows only what it is shown, so a crash does not shift its lines."""
    said = sum(bool(message.tool_calls) for message in request.messages)
    read, written, tool, arguments = SCRIPT[min(said, len(SCRIPT) - 1)]
    call = ToolRequest(id=f"call-{said + 1}", name=tool, arguments=json.dumps(arguments))
    return ModelReply(tool_calls=(call,), usage=Usage(input_tokens=read, output_tokens=written))


async def main(arguments: list[str] | None = None) -> int:
    """Start the task or take it up, as far as it goes, and show how it stands."""
    options = _options(arguments)
    key = os.environ.get("OPENAI_API_KEY")
    model = openai_chat(options.model, key=key, base_url=options.models_at) if options.model else script
    checkpoints = SQLiteCheckpoints(options.runs)
    try:
        async with Gateway(options.url, token=options.key) as gateway:
            runner = Runner(
                gateway=gateway,
                model=model,
                checkpoints=checkpoints,
                tasks=[refund],
                # Some tools take sensitive arguments. Where they matter: sealer=AesSealer([key]).
                sealer=Unsealed(),
            )
            await runner.start("refund", goal=GOAL, task_id=options.task)
            state = await runner.run(options.task)
    finally:
        checkpoints.close()
    show(state)
    return {Status.SUCCEEDED: 0, Status.AWAITING_APPROVAL: 3}.get(state.status, 1)


def show(state: LoopState) -> None:
    """The task as its own record has it."""
    print(f"{state.task_id}: {state.status} ({state.reason}), version {state.version}")
    refs = {each.id: each.ref for each in state.evidence}
    for record in state.tool_history:
        evidence = " ".join(word for word in (record.evidence_id, refs.get(record.evidence_id or "")) if word)
        print(f"  step {record.step_id}  {record.tool:18}{record.outcome:8}{evidence or record.code or ''}")
    print(f"  {state.step_count} of {state.limits.max_steps} steps, {state.usage.tokens_used:,} tokens")
    print(textwrap.fill(state.detail, 110, initial_indent="  ", subsequent_indent="  "))
    if state.approval is not None and state.status is Status.AWAITING_APPROVAL:
        print(f"  oncegate approvals approve {state.approval.id}")


def _options(arguments: list[str] | None) -> argparse.Namespace:
    words = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        description=words[0], epilog=words[2], formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--url", default=os.environ.get("ONCEGATE_URL", "http://127.0.0.1:8080"), help="the gateway")
    parser.add_argument("--runs", default="runs.db", help="the file of the checkpoints")
    parser.add_argument("--task", default="task-8472-a", help="the id of the task")
    parser.add_argument("--model", help="a model behind an OpenAI-compatible endpoint, instead of the script")
    parser.add_argument("--models-at", default="https://api.openai.com/v1", metavar="URL", help="that endpoint")
    options = parser.parse_args(arguments)
    options.key = os.environ.get("ONCEGATE_KEY")
    if not options.key:
        parser.error("put an API key of the gateway into ONCEGATE_KEY (`oncegate keys create` makes one)")
    return options


def program() -> int:
    """`main` as a command. Ctrl-C is a crash like any other: what is known is durable."""
    try:
        return asyncio.run(main())
    except KeyboardInterrupt:
        print("Interrupted. The task keeps its place: the same command goes on.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(program())
