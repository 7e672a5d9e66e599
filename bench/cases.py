"""What is measured: one row a case, with what it has to reach."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

# 230 bytes, the same for every server: what makes the cases differ is the order's number, or one name too many.
_ARGUMENTS: Final = (
    '{"arguments":{"order_id":"ORD-%s","payment_id":"PAY-29841","amount_paise":425000,'
    '"reason":"Arrived damaged; the customer sent two photographs and wants the money back."%s},'
    '"run":{"id":"run-2026-11-29-0042","step":4}}'
)
STORED: Final = 500
"""Operations that are in the record already: what a replay finds."""
FIRST_NEW: Final = 1_000_000
CONNECTIONS: Final = (1, 8, 64)
TARGET_AT: Final = 64
"""Connections at which the targets hold."""
GATE_SLACK: Final = 1.4
"""CI fails above this times a target: interleaved or not, a shared machine spreads ratios by a third."""


class Place(StrEnum):
    """Which server a case is about. Those of a run's cases are up all the time; OnceGate has 5 manifests where nothing is said."""

    DOWNSTREAM = "downstream"
    PROXY = "barest proxy"
    TWO_SPANS = "OnceGate"
    ONE_SPAN = "OnceGate, attempt_spans off"
    ON_REDIS = "OnceGate on Redis"
    THOUSAND = "OnceGate, 1,000 manifests"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One kind of call.

    Attributes:
        target: CPU a call at 64 connections, as a ratio to the yardstick's; None where nothing is promised.
        many: after how many calls the numbers in `body` begin again; 0 for never.
        ok: whether its answers are 2xx. A refusal's are not.
        yardstick: the case it is compared with; None: the barest proxy.
        path: where its calls go; None: the route of its tool.
    """

    id: str
    title: str
    place: Place
    body: str
    tool: str = "find_refund"
    target: float | None = None
    many: int = 0
    ok: bool = True
    yardstick: "Case | None" = None
    path: str | None = None
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def target_path(self) -> str:
        """Where its calls go: its tool's own route, unless it says otherwise."""
        return self.path or f"/v1/tools/{self.tool}/calls"


_READ: Final = _ARGUMENTS % ("4471", "")
_WRITE: Final = _ARGUMENTS % ("%d", "")

DOWNSTREAM: Final = Case(id="downstream", title="the downstream itself", place=Place.DOWNSTREAM, body=_READ)
PROXY: Final = Case(id="proxy", title="barest starlette + aiohttp proxy", place=Place.PROXY, body=_READ)
READ: Final = Case(id="read", title="read, call and attempt spans", place=Place.TWO_SPANS, body=_READ, target=1.25)
ONE_SPAN: Final = Case(id="read-one-span", title="read, one span", place=Place.ONE_SPAN, body=_READ, target=1.0)
WRITE: Final = Case(
    id="write",
    title="keyed write, a new operation each call",
    place=Place.TWO_SPANS,
    body=_WRITE,
    tool="issue_refund",
    target=2.5,
)
WRITE_ON_REDIS: Final = Case(
    id="write-redis",
    title="keyed write, its record on Redis",
    place=Place.ON_REDIS,
    body=_WRITE,
    tool="issue_refund",
    target=1.8,
)
REPLAY: Final = Case(
    id="replay",
    title="replay of a recorded write",
    place=Place.TWO_SPANS,
    body=_WRITE,
    tool="issue_refund",
    target=1.0,
    many=STORED,
)
REFUSAL: Final = Case(
    id="refusal",
    title="refusal (unknown argument)",
    place=Place.TWO_SPANS,
    body=_ARGUMENTS % ("4471", ',"force":true'),
    tool="issue_refund",
    target=0.6,
    ok=False,
)
GROWTH: Final = Case(
    id="growth",
    title="read with 1,000 manifests, against 5",
    place=Place.THOUSAND,
    body=_READ,
    target=1.0,
    yardstick=READ,
)

GROWTH_WRITE: Final = Case(
    id="growth-write",
    title="keyed write with 1,000 manifests, against 5",
    place=Place.THOUSAND,
    body=_WRITE,
    tool="issue_refund",
    target=1.0,
    yardstick=WRITE,
)

MCP: Final = Case(
    id="mcp",
    title="MCP read, revision 2026-07-28, against the HTTP read",
    place=Place.TWO_SPANS,
    body='{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_refund","_meta":{'
    '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},'
    '"oncegate/run-id":"run-2026-11-29-0042","oncegate/step":4},'
    + _READ.partition(',"run"')[0].removeprefix("{")
    + "}}",
    target=1.3,
    yardstick=READ,
    path="/mcp",
    headers=(("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "find_refund")),
)

# What these three add may be a tenth of the barest proxy: 0.08 of a read and 0.04 of a write that are at their targets.
READ_RULED: Final = Case(
    id="read-rules",
    title="read with three rules and two limits, against without",
    place=Place.TWO_SPANS,
    body=_READ,
    tool="find_refund_ruled",
    target=1.08,
    yardstick=READ,
)
WRITE_RULED: Final = Case(
    id="write-rules",
    title="keyed write with three rules and two limits, against without",
    place=Place.TWO_SPANS,
    body=_WRITE,
    tool="issue_refund_ruled",
    target=1.04,
    yardstick=WRITE,
)
APPROVAL: Final = Case(
    id="write-approval",
    title="keyed write whose approval is asked about and not needed, against without",
    place=Place.TWO_SPANS,
    body=_WRITE,
    tool="issue_refund_approvable",
    target=1.04,
    yardstick=WRITE,
)

CASES: Final = (DOWNSTREAM, READ, ONE_SPAN, WRITE, WRITE_ON_REDIS, REPLAY, REFUSAL)
"""Against the barest proxy, all in one table; the downstream itself is there to see what is left for a proxy."""
COMPARED: Final = (MCP, READ_RULED, WRITE_RULED, APPROVAL, GROWTH, GROWTH_WRITE)
"""Those with a yardstick of their own."""
EVERY: Final = {case.id: case for case in (*CASES, *COMPARED)}
