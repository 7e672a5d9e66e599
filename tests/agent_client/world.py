"""A whole world for the loop: the demo's provider, a real gateway in front of it on a real socket, and its HTTP client."""

import asyncio
import contextlib
import json
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from agent_client.checkpoints import MemoryCheckpoints
from agent_client.gateway_client import Gateway
from agent_client.inference import ModelReply, ModelRequest, ModelTrouble, ToolRequest, Usage
from agent_client.limits import Limits
from agent_client.ports import Checkpoints, Model, ToolGateway
from agent_client.runner import Runner
from agent_client.sealing import Unsealed
from agent_client.task_type import TaskType
from gateway.adapters.cel.engine import CelEngine
from gateway.adapters.files.shelf import Shelf
from gateway.adapters.http_tool.egress import EgressPolicy
from gateway.adapters.http_tool.transport import HttpToolTransport
from gateway.adapters.otel.settings import TelemetrySettings
from gateway.adapters.otel.telemetry import OtelTelemetry
from gateway.adapters.sqlite.store import SqliteOperationStore
from gateway.adapters.system.clock import SystemClock
from gateway.app import wire
from gateway.contract.call import Caller
from gateway.contract.requests import SettledAs
from gateway.demo.behaviour import Behaviour, Script, Scripts
from gateway.demo.events import Events
from gateway.demo.ledger import Ledger
from gateway.demo.provider import Provider
from gateway.demo.routes import Routes
from gateway.fronts.http.build import build
from gateway.fronts.http.server import Server, bind
from gateway.manifest.building import Operator
from gateway.pipeline.core import Pipeline
from gateway.settings import Settings
from tests.gateway.pipeline.rig import StoreClock, noted

TOKEN: Final = "og_testtesttest_key"
AGENTS: Final = {TOKEN: "agent", "og_testtesttest_heir": "agent-2"}
LEAD_TOKEN: Final = "og_testtesttest_lead"
ORDER: Final = "ORD-8472"
CUSTOMER: Final = "cust-3391"
REFUND: Final[Mapping[str, Any]] = {"order_id": ORDER, "payment_id": "pay_5a2", "amount_paise": 200_000}
STATUS: Final[Mapping[str, Any]] = {"order_id": ORDER, "payment_id": "pay_5a2"}
NOTICE: Final[Mapping[str, Any]] = {"customer_id": CUSTOMER, "message": "Your refund is on its way."}
TOOLS: Final = ("lookup_order", "get_refund_status", "search_policy", "issue_refund", "notify_customer")

_MANIFESTS: Final = Path(__file__).parents[2] / "tool_manifests"
_PERMISSIONS: Final = frozenset(
    {"orders:read", "refunds:read", "policy:read", "refunds:write", "notifications:write", "operations:settle"}
)
_LEADS: Final = frozenset({"refunds:approve"})
_MAY_APPROVE: Final = {"max_approval_paise": 300_000}
# Real time, but little of it.
_TIMES: Final = {"connect": "500ms", "read": "400ms", "pool": "500ms", "total": "2s"}
_WRITE_TIMES: Final = {**_TIMES, "write": "500ms", "grace": "300ms", "min_send": "20ms"}


@dataclass(slots=True)
class World:
    """What stands around a loop, and what a test may do to it."""

    gateway: Gateway
    lead: Gateway
    clock: StoreClock
    pipeline: Pipeline
    ledger: Ledger
    scripts: Scripts
    events: Events
    url: str
    attributes: dict[str, Any]
    permissions: set[str]
    stop_gateway: Callable[[], Any]
    checkpoints: Checkpoints = field(default_factory=MemoryCheckpoints)
    provider_url: str = ""

    def refunds(self, order: str = ORDER) -> int:
        """How often money went back."""
        return sum(effect.kind == "refund" for effect in self.ledger.effects(order))

    def notices(self) -> int:
        """How many messages went out."""
        return len(self.ledger.effects(CUSTOMER))

    def provider(self, *behaviours: Behaviour, method: str = "POST", subject: str = ORDER) -> None:
        """How the provider treats the next requests."""
        self.scripts.put(method, subject, Script(next=deque(behaviours)))

    def runner(self, model: Model, *tasks: TaskType, gateway: ToolGateway | None = None, **parts: Any) -> Runner:
        """A worker of its own: nothing but the checkpoints is shared with another."""
        chosen = {"checkpoints": self.checkpoints, "sealer": Unsealed(), **parts}
        return Runner(gateway=gateway or self.gateway, model=model, tasks=tasks or (refund_task(),), **chosen)

    async def settle(self, operation_id: str, settled_as: SettledAs) -> None:
        """An operator's word."""
        answer = await self.gateway.settle(operation_id, settled_as=settled_as, evidence="seen in the books")
        assert answer.ok, answer


class _Keys:
    """Two callers with the rights a test gives them, and a lead who may approve what they ask for."""

    def __init__(self, permissions: set[str], attributes: dict[str, Any]) -> None:
        self._permissions = permissions
        self._attributes = attributes

    def authenticate(self, token: str) -> Caller | None:
        if token == LEAD_TOKEN:
            return Caller(subject="lead-7", tenant="demo", permissions=_LEADS, attributes=dict(_MAY_APPROVE))
        if token not in AGENTS:
            return None
        rights: Any = {"permissions": frozenset(self._permissions), "attributes": dict(self._attributes)}
        return Caller(subject=AGENTS[token], tenant="demo", **rights)


def manifests(folder: Path, changes: Mapping[str, Mapping[str, Any]], *, approvals: bool = False) -> Path:
    """The example tools, in less time and asking nobody; `changes` replaces top-level members of a tool by name."""
    folder.mkdir(exist_ok=True)
    for source in sorted(_MANIFESTS.glob("*.yaml")):
        document = yaml.safe_load(source.read_text())
        write = document["effect"] == "write"
        document["timeouts"] = _WRITE_TIMES if write else _TIMES
        document["retry"] = {"max_attempts": 2, "base": "5ms", "cap": "10ms", "budget": 1.0}
        if document["name"] == "issue_refund":
            document["reconcile"] = {**document["reconcile"], "inline": "100ms", "provider_max": "1s"}
            document |= {} if approvals else _alone(document)
        document |= changes.get(document["name"], {})
        document = {name: member for name, member in document.items() if member is not None}
        (folder / source.name).write_text(json.dumps(document))
    return folder


def _alone(document: Mapping[str, Any]) -> dict[str, Any]:
    """The members that would ask a person, without it."""
    rules = [{name: word for name, word in rule.items() if name != "otherwise"} for rule in document["rules"]]
    return {"approval": None, "rules": rules, "identity": {**document["identity"], "repeat": "deny"}}


@contextlib.asynccontextmanager
async def open_world(
    folder: Path,
    changes: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    honours_keys: bool = True,
    approvals: bool = False,
    **options: Any,
) -> AsyncIterator[World]:
    """Everything running, until the block ends. `options` are settings of the gateway."""
    interval = sys.getswitchinterval()
    ledger, scripts, events = Ledger(":memory:"), Scripts(), Events()
    provider = Provider(Routes(ledger, scripts, events, honours_keys=honours_keys, has_lookup=True), events)
    await provider.listen("127.0.0.1", 0)
    clock, faults = StoreClock(), list[BaseException]()
    operator = Operator(
        engine=CelEngine(), environment={"PAYMENTS_URL": f"http://127.0.0.1:{provider.port}"}, secrets={}
    )
    settings = Settings(port=0, drain_grace_s=0.1, drain_notice_s=0.0, **options)
    heard = OtelTelemetry(TelemetrySettings(), SystemClock(), "0")
    parts = wire(
        settings,
        shelf=Shelf(manifests(folder / "manifests", changes or {}, approvals=approvals), operator),
        store=SqliteOperationStore.open(folder / "operations.db", host=clock.host()),
        telemetry=heard,
        transport=HttpToolTransport(SystemClock(), egress=EgressPolicy((f"127.0.0.1:{provider.port}",))),
        faults=noted(faults),
    )
    pipeline = Pipeline(parts)
    permissions, attributes = set(_PERMISSIONS), {"max_refund_paise": 1_000_000, "customer_id": CUSTOMER}
    listening = bind(settings)
    ready = asyncio.Event()
    app = build(pipeline, _Keys(permissions, attributes), settings)
    server = Server(app, pipeline, settings, announce=lambda _host, _port: ready.set())
    serving = asyncio.create_task(server.serve([listening]))
    await asyncio.wait_for(ready.wait(), 10)
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"

    async def stop() -> None:
        server.should_exit = True
        await asyncio.wait_for(asyncio.shield(serving), 20)

    try:
        async with Gateway(url, token=TOKEN) as gateway, Gateway(url, token=LEAD_TOKEN) as lead:
            yield World(
                gateway=gateway,
                lead=lead,
                clock=clock,
                pipeline=pipeline,
                ledger=ledger,
                scripts=scripts,
                events=events,
                url=url,
                attributes=attributes,
                permissions=permissions,
                stop_gateway=stop,
                provider_url=f"http://127.0.0.1:{provider.port}",
            )
        assert not faults, faults
    finally:
        scripts.release(ORDER)
        await provider.stop()
        await stop()
        heard.close()
        ledger.close()
        sys.setswitchinterval(interval)


def refund_task(order: str = ORDER, **changes: Any) -> TaskType:
    """The task of both documents: find the duplicate charge, refund it, verify it, tell the customer."""
    limits = Limits(**{"max_steps": 8, "active_seconds": 120, "max_tokens": 40_000, **changes.pop("limits", {})})
    task = TaskType("refund", system="Resolve the refund.", tools=TOOLS, limits=limits, **changes)

    @task.done
    def verified(evidence: Any) -> tuple[bool, str]:
        issued = evidence.latest("issue_refund")
        seen = evidence.latest("get_refund_status", order_id=order)
        if not any(r["refund_id"] == issued.data["refund_id"] for r in seen.data["refunds"] or ()):
            return False, "no refund evidence: cannot claim a refund exists"
        return True, f"refund {issued.data['refund_id']} verified"

    return task


def reply(*calls: tuple[str, Any], text: str = "", usage: tuple[int, int] = (90, 10)) -> ModelReply:
    """A model's reply: tools with arguments (a string goes out as it is)."""
    requests = tuple(
        ToolRequest(id=f"toolu_{at}", name=name, arguments=given if isinstance(given, str) else json.dumps(given))
        for at, (name, given) in enumerate(calls)
    )
    return ModelReply(text=text, tool_calls=requests, usage=Usage(input_tokens=usage[0], output_tokens=usage[1]))


LOOKUP: Final = reply(("lookup_order", {"order_id": ORDER}))
CHECK: Final = reply(("get_refund_status", STATUS))
POLICY: Final = reply(("search_policy", {"query": "duplicate capture refund"}))
ISSUE: Final = reply(("issue_refund", REFUND))
NOTIFY: Final = reply(("notify_customer", NOTICE))
DONE: Final = reply(("finish", {"outcome": "done", "summary": "Refunded."}))
HAPPY: Final = (LOOKUP, CHECK, POLICY, ISSUE, CHECK, DONE)


def lines_of(order: str, payment: str) -> tuple[ModelReply, ...]:
    """Look up, refund, check, tell the customer, finish: for an order of its own."""
    return (
        reply(("lookup_order", {"order_id": order})),
        reply(("issue_refund", {"order_id": order, "payment_id": payment, "amount_paise": 1_000})),
        reply(("get_refund_status", {"order_id": order})),
        reply(("notify_customer", {"customer_id": CUSTOMER, "message": f"{order} is refunded."})),
        DONE,
    )


class Scripted:
    """A model that says its lines in order; the last one for ever. It remembers what it was shown."""

    def __init__(self, *lines: ModelReply | ModelTrouble) -> None:
        self._lines = lines
        self.seen: list[ModelRequest] = []

    async def __call__(self, request: ModelRequest) -> ModelReply:
        self.seen.append(request)
        line = self._lines[min(len(self.seen), len(self._lines)) - 1]
        if isinstance(line, ModelTrouble):
            raise line
        return line


class Stepwise:
    """A model that decides by where the task stands, so that a crash does not shift its lines."""

    def __init__(self, *lines: ModelReply) -> None:
        self._lines = lines
        self.calls = 0

    async def __call__(self, request: ModelRequest) -> ModelReply:
        self.calls += 1
        turns = sum(bool(message.tool_calls) for message in request.messages)
        return self._lines[min(turns, len(self._lines) - 1)]


def texts(request: ModelRequest) -> str:
    """Everything a model was shown, in one string."""
    return "\n".join([request.system, *(message.text for message in request.messages)])


async def run_task(runner: Runner, *, task_id: str = "task-8472-a", task: str = "refund") -> Any:
    """Admit and run."""
    await runner.start(task, goal="Order 8472 was charged twice, and my refund has not arrived.", task_id=task_id)
    return await runner.run(task_id)


def statuses(state: Any) -> Iterable[str]:
    """How each action stands."""
    return [action.status.value for action in state.outstanding]
