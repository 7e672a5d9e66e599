"""The two halves of the demo: the same client and the same slow provider, without and with the gateway."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from gateway.demo import naive
from gateway.demo.gateway_process import create_key, start_gateway
from gateway.demo.processes import Child
from gateway.demo.provider_process import ProviderProcess

MANIFESTS = Path(__file__).parent / "manifests"
ORDER = "ORD-4471"
PAYMENT = "pay_4471"
AMOUNT_PAISE = 425_000
MORNING_S = (9.0, 7.0, 2.78)
"""How long the provider took for the three requests of the incident."""
TIMEOUT_S = 5.0

AGENT_MAY = ("orders:read", "refunds:read", "policy:read", "refunds:write", "notifications:write")
ALONE_PAISE = 100_000
"""What the agent may refund without a person."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Seconds the provider needs for its first requests, and the client's patience.

    The demo runs at the incident's own pace; tests run it faster, with the manifests to match.
    """

    morning_s: tuple[float, ...] = MORNING_S
    timeout_s: float = TIMEOUT_S
    manifests: Path = MANIFESTS


@dataclass(frozen=True, slots=True, kw_only=True)
class NaiveStory:
    """What came of the incident as it was."""

    told: naive.Told
    refunds: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayStory:
    """What came of it through the gateway: envelopes as the caller got them, records as the gateway keeps them."""

    first: naive.Told
    in_doubt: dict[str, Any]
    settled: dict[str, Any]
    last: naive.Told
    rows: list[dict[str, Any]]
    refunds: list[str]


async def slow_provider(folder: Path, pace: Pace) -> ProviderProcess:
    """A provider on this morning; the effect comes at the end of the wait."""
    folder.mkdir()  # noqa: ASYNC240 - a folder of our own, once
    provider = await ProviderProcess.start(folder)
    await provider.script(ORDER, *({"before_s": seconds} for seconds in pace.morning_s))
    return provider


async def without_gateway(provider: ProviderProcess, pace: Pace, say: Say) -> NaiveStory:
    """The incident, line for line."""
    url = f"{provider.url}/orders/{ORDER}/refunds"
    body = {"payment": PAYMENT, "paise": AMOUNT_PAISE}
    told = await asyncio.to_thread(naive.refund, url, body, timeout_s=pace.timeout_s, say=say)
    for nth in range(1, told.attempts + 1):
        await provider.event("effect", ORDER, nth=nth)
    return NaiveStory(told=told, refunds=await provider.refunds(ORDER))


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """A gateway that listens, and the credentials of a client, an agent and a support lead."""

    gateway: Child
    headers: dict[str, str]
    agent: str
    lead: str


async def open_door(folder: Path, provider: ProviderProcess, pace: Pace) -> Door:
    """Make the keys and start the gateway in front of a provider."""
    keys = folder / "keys.json"
    permissions = ("refunds:write", "refunds:read", "executions:read")
    key = await create_key(keys, subject="support-agent", tenant="demo", permissions=permissions)
    agent = await create_key(
        keys, subject="refund-agent", tenant="demo", permissions=AGENT_MAY, attributes={"max_refund_paise": ALONE_PAISE}
    )
    lead = await create_key(
        keys,
        subject="lead-7",
        tenant="demo",
        permissions=("refunds:approve",),
        attributes={"max_approval_paise": 500_000},
    )
    gateway = await start_gateway(folder, manifests=pace.manifests, provider_url=provider.url)
    return Door(gateway=gateway, headers={"Authorization": f"Bearer {key}"}, agent=agent, lead=lead)


async def through_gateway(provider: ProviderProcess, door: Door, pace: Pace, say: Say) -> GatewayStory:
    """The same client, pointed at the gateway; then the same call once more, when the provider has answered."""
    first = await _ask(door, pace, say)
    async with httpx.AsyncClient(
        base_url=door.gateway.url, headers=door.headers, trust_env=False, timeout=30.0
    ) as client:
        if error := (first.body or {}).get("error"):
            say(f"told: {error['code']}, so {error['next_action']}")
        in_doubt = await _operation(client, first)
        say(f"the record: {in_doubt.get('state', '-')}; the gateway still listens")
        await provider.event("effect", ORDER)
        settled = await _until_settled(client, first, in_doubt)
        say(f"the provider has answered; the record: {settled.get('state', '-')}")
        last = await _ask(door, pace, say)
        rows = (await client.get("/v1/executions")).json()["data"]["executions"]
    refunds = await provider.refunds(ORDER)
    return GatewayStory(first=first, in_doubt=in_doubt, settled=settled, last=last, rows=rows, refunds=refunds)


async def _ask(door: Door, pace: Pace, say: Say) -> naive.Told:
    body = {"arguments": {"order_id": ORDER, "payment_id": PAYMENT, "amount_paise": AMOUNT_PAISE}}
    tool = f"{door.gateway.url}/v1/tools/issue_refund/calls"
    return await asyncio.to_thread(naive.refund, tool, body, timeout_s=pace.timeout_s, headers=door.headers, say=say)


async def _operation(client: httpx.AsyncClient, told: naive.Told) -> dict[str, Any]:
    operation_id = (told.body or {}).get("meta", {}).get("operation_id")
    answer = await client.get(f"/v1/operations/{operation_id}")
    found: dict[str, Any] = answer.json()["data"] or {}
    return found


async def _until_settled(client: httpx.AsyncClient, told: naive.Told, seen: dict[str, Any]) -> dict[str, Any]:
    """The record once it has changed: the answer that ends the doubt is on its way."""
    async with asyncio.timeout(10.0):
        while (now := await _operation(client, told)).get("state") == seen.get("state"):  # noqa: ASYNC110 - it changes in another process
            await asyncio.sleep(0.05)
    return now
