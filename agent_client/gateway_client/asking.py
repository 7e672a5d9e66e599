"""The requests of the wire contract as values."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, urlencode

from agent_client.wire import CallRequest

_TOOL: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}", re.ASCII)
_VISIBLE: Final = re.compile(r"[\x21-\x7e]{1,255}", re.ASCII)
_MAX_SEGMENT: Final = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One HTTP request.

    Attributes:
        body: None for GET.
        tool: what the answer's `meta.tool` must not contradict; None when it is about no one tool.
        wait_s: how long the gateway was given to answer; None: as long as the client waits for any answer.
    """

    method: str
    path: str
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    tool: str | None = None
    wait_s: float | None = None


def ask_tool(route: str, request: CallRequest) -> Ask:
    """`POST /v1/tools/{tool}/calls` or `/prepare`.

    Raises:
        ValueError: the tool's name, or a value that goes into a header, cannot be written into a request.
    """
    if not _TOOL.fullmatch(request.tool):
        raise ValueError("a tool's name is 1 to 128 of the characters A-Z a-z 0-9 _ . -")
    return Ask(
        method="POST",
        path=f"/v1/tools/{request.tool}/{route}",
        body=_body(request),
        headers=_headers(request),
        tool=request.tool,
        wait_s=request.timeout_s,
    )


def ask_get(path: str, **query: str | None) -> Ask:
    """A question. Parameters that are None are left out."""
    asked = {name: value for name, value in query.items() if value is not None}
    return Ask(method="GET", path=f"{path}?{urlencode(asked)}" if asked else path)


def ask_post(path: str, **body: Any) -> Ask:
    """An order to the gateway itself. Members that are None are left out."""
    return Ask(method="POST", path=path, body={name: value for name, value in body.items() if value is not None})


def segment(name: str) -> str:
    """`name` as one segment of a path.

    Raises:
        ValueError: nothing of the contract has this name.
    """
    if not 0 < len(name) <= _MAX_SEGMENT or name in {".", ".."}:
        raise ValueError("an identifier in a path has 1 to 255 characters")
    return quote(name, safe="")


def _body(request: CallRequest) -> dict[str, Any]:
    run = {"id": request.run_id, "step": request.step, "tokens": request.tokens}
    body: dict[str, Any] = {
        "arguments": dict(request.arguments),
        "run": {name: value for name, value in run.items() if value is not None},
    }
    if request.expect is not None:
        expect = request.expect
        body["expect"] = {"operation_key": expect.operation_key, "action_hash": expect.action_hash}
    named = {"approval_id": request.approval_id, "repeat_of": request.repeat_of}
    return body | {name: value for name, value in named.items() if value is not None}


def _headers(request: CallRequest) -> dict[str, str]:
    if request.attempt < 1:
        raise ValueError("attempt counts from 1")
    headers = {"Idempotency-Attempt": str(request.attempt)}
    if request.expect is not None and request.expect.store_epoch:
        headers["Oncegate-Store-Epoch"] = _visible("store_epoch", request.expect.store_epoch)
    if request.idempotency_key is not None:
        headers["Idempotency-Key"] = _visible("idempotency_key", request.idempotency_key)
    if request.traceparent is not None:
        headers["traceparent"] = _visible("traceparent", request.traceparent)
    if request.timeout_s is not None:
        # Rounded up: 0 is no deadline, and the gateway compares in whole milliseconds.
        headers["X-Request-Timeout-Ms"] = str(max(math.ceil(request.timeout_s * 1000), 1))
    return headers


def _visible(name: str, value: str) -> str:
    if not _VISIBLE.fullmatch(value):
        raise ValueError(f"{name} must be 1 to 255 visible ASCII characters")
    return value
