"""What clients were told, what the store kept, what the provider did; and every sentence in which they disagree."""

from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

from tests.crash.fleet import Gateway
from tests.crash.plain_http import ask

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
        self._key = key
        self.tally = tally
        self.delivered: list[Delivered] = []

    async def call(self, gateway: Gateway, operation: Operation) -> dict[str, Any] | None:
        """Make the call; None when no answer came."""
        self.tally.calls += 1
        document = {"arguments": operation.arguments(), "run": {"id": operation.order}}
        try:
            reply = await ask(f"{gateway.url}/v1/tools/{operation.tool}/calls", self._key, document=document)
        except TimeoutError:
            self.tally.violations.append(f"{operation}: silence instead of an answer")
            return None
        if reply is None:
            return None
        envelope: dict[str, Any] = reply.body
        self.tally.answers += 1
        self.delivered.append(Delivered(operation=operation, envelope=envelope))
        return envelope

    async def operations(self, gateway: Gateway, **query: str) -> list[dict[str, Any]]:
        """`GET /v1/operations`."""
        return await self._list(gateway, "operations", query)

    async def rows(self, gateway: Gateway, run_id: str) -> list[dict[str, Any]]:
        """`GET /v1/executions` of one operation's calls."""
        return await self._list(gateway, "executions", {"run_id": run_id})

    async def settle(self, gateway: Gateway, operation_id: str, *, executed: bool, result: Any) -> int:
        """`POST /v1/operations/{id}/settle`; the HTTP status."""
        word = {"settled_as": "executed" if executed else "not_executed", "evidence": "the provider's own ledger"}
        if executed:
            word["result"] = result
        reply = await ask(f"{gateway.url}/v1/operations/{operation_id}/settle", self._key, document=word)
        return 0 if reply is None else reply.status

    async def _list(self, gateway: Gateway, what: str, query: dict[str, str]) -> list[dict[str, Any]]:
        reply = await ask(f"{gateway.url}/v1/{what}", self._key, query={"limit": "1000", **query})
        assert reply is not None, f"{gateway} gave no answer"
        assert reply.status == HTTPStatus.OK, reply
        found: list[dict[str, Any]] = reply.body["data"][what]
        return found


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
