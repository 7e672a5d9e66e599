"""The outermost edge with approvals: a small server that speaks the wire contract, and decides as a test says.

It keeps operations by key and executes each at most once, as a gateway does; it is no model of one beyond that.
"""

import asyncio
import contextlib
import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from agent_client.gateway_client import Gateway
from gateway.contract.codes import ErrorCode, NextAction
from gateway.contract.envelope import Envelope, Meta, fail, succeed
from gateway.contract.requests import ToolSummary

EPOCH: Final = "epoch-1"
_TEXT: Final = {"type": "string"}


def tool(name: str, effect: str, **properties: Any) -> ToolSummary:
    """A catalogue entry; every argument is required."""
    schema = {"type": "object", "properties": properties, "required": sorted(properties)}
    return ToolSummary(
        name=name, version="1", digest="sha256:d", title=name, description=name, effect=effect, arguments=schema
    )


TOOLS: Final = {
    t.name: t
    for t in (
        tool("lookup_order", "read", order_id=_TEXT),
        tool("get_refund_status", "read", refund_id=_TEXT),
        tool("search_policy", "read", query=_TEXT),
        tool("issue_refund", "write", order_id=_TEXT, amount={"type": "integer"}),
        tool("notify_customer", "write", customer_id=_TEXT, message=_TEXT),
    )
}


@dataclass(slots=True)
class Desk:
    """The server's books, and what a test may change in them.

    Attributes:
        threshold: refunds above it need a person.
        policy: part of the action hash; another policy is another action.
        refuse: tools that `prepare` and `calls` refuse, with a code and what to do.
        answers: for calls of a tool, answers to give instead of acting, first to last.
        reads: what a read answers, and which system says so.
    """

    threshold: int = 1_000
    policy: str = "p1"
    expires_at: str = "2026-11-29T20:00:00Z"
    refuse: dict[str, tuple[ErrorCode, NextAction]] = field(default_factory=dict)
    answers: dict[str, list[ErrorCode]] = field(default_factory=dict)
    reads: dict[str, tuple[str, Any]] = field(default_factory=dict)
    approvals: dict[str, dict[str, Any]] = field(default_factory=dict)
    done: dict[str, Any] = field(default_factory=dict)
    effects: list[tuple[str, Any]] = field(default_factory=list)
    asked: list[tuple[str, str, dict[str, Any], Mapping[str, str]]] = field(default_factory=list)
    epoch: str = EPOCH
    url: str = ""

    def decide(self, approval_id: str, state: str, *, by: str = "lead-7", note: str | None = None) -> None:
        """A person's word, or time's."""
        self.approvals[approval_id] |= {"state": state, "decided_by": by, "note": note}

    @property
    def latest(self) -> str:
        """The id of the last approval."""
        return list(self.approvals)[-1]

    def calls(self, name: str) -> list[dict[str, Any]]:
        """Bodies of the calls of a tool."""
        return [body for what, tool_name, body, _ in self.asked if (what, tool_name) == ("calls", name)]

    def answer(
        self, method: str, path: str, query: Mapping[str, list[str]], body: Any, headers: Mapping[str, str]
    ) -> Envelope:
        """One request."""
        parts = path.strip("/").split("/")[1:]
        match method, parts:
            case "GET", ["tools"]:
                return succeed({"tools": [t.to_dict() for t in TOOLS.values()]}, self._meta())
            case "GET", ["approvals", approval_id]:
                held = self.approvals.get(approval_id)
                return succeed(held, self._meta()) if held else fail(ErrorCode.OPERATION_NOT_FOUND, self._meta())
            case "GET", ["operations"]:
                key = query["key"][0]
                found = [self._operation(key)] if key in self.done else []
                return succeed({"operations": found}, self._meta())
            case "POST", ["tools", name, what]:
                self.asked.append((what, name, body, headers))
                return self._asked(name, what, body)
            case _:
                return fail(ErrorCode.ROUTE_NOT_FOUND, self._meta())

    def _asked(self, name: str, what: str, body: dict[str, Any]) -> Envelope:
        arguments, meta = body.get("arguments", {}), self._meta(name)
        if name in self.refuse:
            code, instead = self.refuse[name]
            return fail(code, meta, next_action=instead)
        if TOOLS[name].effect == "read":
            if self.answers.get(name):
                return fail(self.answers[name].pop(0), meta)
            source, payload = self.reads.get(name, ("refunds-service", {**arguments, "status": "settled"}))
            return succeed(payload, Meta(**{**_fields(meta), "source": source}))
        key = self._hash([name, {n: v for n, v in arguments.items() if n != "amount"}])
        action = f"sha256:{self._hash([key, arguments, self.policy])}"
        gated = name == "issue_refund" and arguments["amount"] > self.threshold
        if what == "prepare":
            return succeed(self._prepared(key, action, gated=gated and key not in self.done), meta)
        return self._call(name, body, key, action, gated=gated)

    def _call(self, name: str, body: dict[str, Any], key: str, action: str, *, gated: bool) -> Envelope:
        meta = self._meta(name)
        expect = body.get("expect") or {}
        if expect.get("action_hash") not in (None, action) or expect.get("operation_key") not in (None, key):
            return fail(ErrorCode.INTENT_STALE, meta)
        if key in self.done:
            return succeed(self.done[key], Meta(**{**_fields(meta), "replayed": True}))
        if gated and (asks := self._ask(name, action, body.get("approval_id"))) is not None:
            return asks
        if self.answers.get(name):
            return fail(self.answers[name].pop(0), meta)
        self.effects.append((name, body["arguments"]))
        self.done[key] = {"refund_id": f"rf_{len(self.effects)}", "status": "pending"}
        for approval in self.approvals.values():
            if approval["action_hash"] == action:
                approval["state"] = "spent"
        return succeed(self.done[key], meta)

    def _ask(self, name: str, action: str, given: str | None) -> Envelope | None:
        """The pending approval of this action, or None when the given one allows it."""
        held = self.approvals.get(given or "")
        if held is not None and held["state"] == "approved" and held["action_hash"] == action:
            return None
        pending = [a for a in self.approvals.values() if a["action_hash"] == action and a["state"] == "pending"]
        if not pending:
            approval_id = f"apr-{len(self.approvals) + 1}"
            fresh = {"approval_id": approval_id, "state": "pending", "tool": name, "action_hash": action}
            pending = [{**fresh, "expires_at": self.expires_at, "decided_by": None, "note": None}]
            self.approvals[approval_id] = pending[0]
        meta = Meta(**{**_fields(self._meta(name)), "approval_id": pending[0]["approval_id"]})
        return fail(ErrorCode.APPROVAL_REQUIRED, meta, message="Refunds above 1,000 need a support lead.")

    def _prepared(self, key: str, action: str, *, gated: bool) -> dict[str, Any]:
        need = {"required": gated, "reason": "2000 > 1000" if gated else None, "approvers": None, "expires_after": None}
        return {
            "operation_key": key, "action_hash": action, "effect": "write", "store_epoch": self.epoch, "approval": need,
            "verify_with": "get_refund_status",
        }  # fmt: skip

    def _operation(self, key: str) -> dict[str, Any]:
        return {"operation_id": f"op-{key[:6]}", "operation_key": key, "tool": "issue_refund", "state": "done"}

    def _meta(self, name: str | None = None) -> Meta:
        return Meta(
            request_id=f"req-{len(self.asked)}",
            tool=name,
            tool_version="1",
            store_epoch=self.epoch,
            source="refunds-service",
            fetched_at="2026-10-28T09:14:02Z",
        )

    @staticmethod
    def _hash(value: Any) -> str:
        return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


@contextlib.asynccontextmanager
async def open_desk() -> AsyncIterator[tuple[Desk, Gateway]]:
    """The server and a client of it, while the block runs."""
    desk = Desk()
    server = await asyncio.start_server(lambda r, w: _talk(desk, r, w), "127.0.0.1", 0)
    desk.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        async with Gateway(desk.url, token="og_test") as gateway:
            yield desk, gateway
    finally:
        server.close()
        await server.wait_closed()


async def _talk(desk: Desk, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        method, target, _ = head[0].split(" ")
        url = urlsplit(target)
        envelope = desk.answer(method, url.path, parse_qs(url.query), json.loads(body or b"{}"), headers)
        content = json.dumps(envelope.to_dict()).encode()
        lines = [f"HTTP/1.1 {envelope.status} X", "Content-Type: application/json", f"Content-Length: {len(content)}"]
        writer.write("\r\n".join([*lines, "Connection: close", "", ""]).encode() + content)
        await writer.drain()
    writer.close()


def _fields(meta: Meta) -> dict[str, Any]:
    return {name: getattr(meta, name) for name in Meta.__slots__}
