"""What clients were told, what the store kept, what the provider did; and every sentence in which they disagree."""

from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from tests.crash.fleet import Gateway

PAYMENT: Final = "PAY-1"
AMOUNT_PAISE: Final = 425_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One refund that is meant once, whatever happens to the gateways."""

    order: str
    tool: str
    payment: str = PAYMENT

    def arguments(self) -> dict[str, Any]:
        """Of each of its calls."""
        return {"order_id": self.order, "payment_id": self.payment, "amount_paise": AMOUNT_PAISE}


@dataclass(slots=True, kw_only=True)
class Tally:
    """The figures of one row of the table."""

    kills: int = 0
    misses: int = 0
    """Rounds in which an operation was answered before it came to the point: killed and followed up all the same."""
    operations: int = 0
    calls: int = 0
    answers: int = 0
    by_hand: int = 0
    """Operations that a person settled."""
    violations: list[str] = field(default_factory=list)

    def line(self) -> str:
        """As the table shows it."""
        missed = f" (+{self.misses} off the point)" if self.misses else ""
        return (
            f"{self.kills:3} kills{missed}  {self.operations:4} operations  {self.answers:5} answers to {self.calls:5} calls"
            f"  {self.by_hand:3} settled by a person  {len(self.violations):3} violations"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """One envelope that a client really got."""

    operation: Operation
    envelope: dict[str, Any]


class Client:
    """An agent that keeps every envelope it receives. Its calls are POSTs over connections of their own."""

    def __init__(self, key: str, tally: Tally) -> None:
        self._http = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {key}"}, timeout=20.0, limits=httpx.Limits(max_keepalive_connections=0)
        )
        self.tally = tally
        self.delivered: list[Delivered] = []

    async def close(self) -> None:
        """Close what is open."""
        await self._http.aclose()

    async def call(self, gateway: Gateway, operation: Operation) -> dict[str, Any] | None:
        """Make the call; None when no answer came."""
        self.tally.calls += 1
        body = {"arguments": operation.arguments(), "run": {"id": operation.order}}
        try:
            answer = await self._http.post(f"{gateway.url}/v1/tools/{operation.tool}/calls", json=body)
        except httpx.TransportError:
            return None
        envelope: dict[str, Any] = answer.json()
        self.tally.answers += 1
        self.delivered.append(Delivered(operation=operation, envelope=envelope))
        return envelope

    async def operations(self, gateway: Gateway, **query: str) -> list[dict[str, Any]]:
        """`GET /v1/operations`."""
        answer = await self._http.get(f"{gateway.url}/v1/operations", params={"limit": "1000", **query})
        found: list[dict[str, Any]] = answer.raise_for_status().json()["data"]["operations"]
        return found

    async def rows(self, gateway: Gateway, run_id: str) -> list[dict[str, Any]]:
        """`GET /v1/executions` of one operation's calls."""
        params = {"run_id": run_id, "limit": "1000"}
        answer = await self._http.get(f"{gateway.url}/v1/executions", params=params)
        found: list[dict[str, Any]] = answer.raise_for_status().json()["data"]["executions"]
        return found

    async def settle(self, gateway: Gateway, operation_id: str, *, executed: bool, result: Any) -> int:
        """`POST /v1/operations/{id}/settle`; the HTTP status."""
        word = {"settled_as": "executed" if executed else "not_executed", "evidence": "the provider's own ledger"}
        if executed:
            word["result"] = result
        answer = await self._http.post(f"{gateway.url}/v1/operations/{operation_id}/settle", json=word)
        return answer.status_code


def told(envelope: dict[str, Any]) -> tuple[str, str | None]:
    """Outcome and code of an envelope, in the words of an execution row."""
    error = envelope["error"]
    return ("ok", None) if error is None else (error["outcome"], error["code"])


def compare_rows(delivered: list[Delivered], rows: list[dict[str, Any]]) -> list[str]:
    """Where rows and envelopes disagree: one row an envelope, and the same words in both."""
    wrong = []
    by_request: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["kind"] == "call":
            by_request.setdefault(row["request_id"], []).append(row)
    for request_id, found in by_request.items():
        if len(found) != 1:
            wrong.append(f"{len(found)} rows for the one request {request_id}")
    for each in delivered:
        meta = each.envelope["meta"]
        if meta["request_id"] not in by_request:
            wrong.append(f"no row for the answer {told(each.envelope)} to {each.operation}")
            continue
        row = by_request[meta["request_id"]][0]
        if (row["outcome"], row["code"]) != told(each.envelope) or row["operation_id"] != meta["operation_id"]:
            wrong.append(f"the row {row} does not say what the client was told: {each.envelope}")
    return wrong
