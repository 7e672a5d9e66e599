"""From the parameters of `tools/call` to a ToolCall: names and types checked, nothing else."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.call import Expect, ToolCall
from gateway.contract.codes import ErrorCode
from gateway.contract.keys import InvalidIdempotencyKey, parse_idempotency_key
from gateway.fronts.http.answers import Refusal, misshapen
from gateway.fronts.http.head import Incoming, trace_context, unusable
from gateway.fronts.http.proposals import TOOL_NAME, only, text

PREFIX: Final = "oncegate/"
"""Of our own members of `_meta`."""
RUN_ID: Final = "run-id"
KEY: Final = "key"
OWN_MEMBERS: Final = (
    RUN_ID, "step", "tokens", KEY, "attempt", "store-epoch", "timeout-ms", "approval-id", "repeat-of", "expect",
)  # fmt: skip
_OWN_MEMBERS: Final = frozenset(OWN_MEMBERS)
_PREFIX_LENGTH: Final = len(PREFIX)
_EXPECT_MEMBERS: Final = ("operation_key", "action_hash")
_RUN_HEADER: Final = b"oncegate-run-id"
_TIMEOUT_HEADER: Final = b"x-request-timeout-ms"
_MAX: Final = 999_999_999
_NOTHING: Final[Mapping[str, Any]] = {}


def parse_tool_call(params: Mapping[str, Any], meta: Mapping[str, Any], incoming: Incoming) -> ToolCall:
    """The call that `tools/call` proposes.

    Raises:
        Refusal: `invalid_request`, `invalid_header`, `invalid_idempotency_key` or `unknown_tool`.
    """
    name, arguments = params.get("name"), params.get("arguments")
    if not isinstance(name, str):
        raise misshapen("params.name must be a string")
    if not TOOL_NAME.fullmatch(name):
        raise Refusal(ErrorCode.UNKNOWN_TOOL)
    if arguments is not None and not isinstance(arguments, dict):
        raise misshapen("params.arguments must be an object")
    own = own_members(meta)
    traceparent, tracestate = _trace(meta, incoming)
    return ToolCall(
        tool=name,
        arguments=arguments or {},
        request_id=incoming.request_id,
        run_id=run_id(own, incoming),
        step=_whole(own, "step", least=0),
        tokens=_whole(own, "tokens", least=0),
        idempotency_key=_key(own),
        attempt=_whole(own, "attempt", least=1) or 1,
        store_epoch=_short(own, "store-epoch"),
        deadline_ms=_whole(own, "timeout-ms", least=1) or _timeout_ms(incoming),
        traceparent=traceparent,
        tracestate=tracestate,
        expect=_expect(own),
        repeat_of=_short(own, "repeat-of"),
        approval_id=_short(own, "approval-id"),
    )


def own_members(meta: Mapping[str, Any]) -> Mapping[str, Any]:
    """What `_meta` holds under our prefix, without it.

    Raises:
        Refusal: `invalid_request` for a name that means nothing: a misspelt one would be ignored in silence.
    """
    own = {name[_PREFIX_LENGTH:]: value for name, value in meta.items() if name.startswith(PREFIX)}
    if not own:
        return _NOTHING
    if not own.keys() <= _OWN_MEMBERS:
        only(own, OWN_MEMBERS, f"the {PREFIX} members of _meta")
    return own


def run_id(own: Mapping[str, Any], incoming: Incoming) -> str | None:
    """The agent's run: of `_meta`, or of the header for clients that cannot touch the body.

    Raises:
        Refusal: `invalid_request` or `invalid_header`.
    """
    in_meta, raw = _short(own, RUN_ID), incoming.head.get(_RUN_HEADER)
    if raw is None:
        return in_meta
    in_head = text({"header": raw.decode("latin-1").strip()}, "header", "the header Oncegate-Run-Id")
    if in_meta is not None and in_meta != in_head:
        raise misshapen(f"_meta[{PREFIX}{RUN_ID}] and the header Oncegate-Run-Id name different runs")
    return in_head


def _trace(meta: Mapping[str, Any], incoming: Incoming) -> tuple[str | None, str | None]:
    """Trace context of `_meta` where there is one: the HTTP headers may be those of a proxy's own span."""
    parent = meta.get("traceparent")
    if isinstance(parent, str):
        state = meta.get("tracestate")
        found = trace_context(
            {
                b"traceparent": parent.encode("latin-1", "replace"),
                b"tracestate": state.encode("latin-1", "replace") if isinstance(state, str) else b"",
            }
        )
        if found[0] is not None:
            return found
    return incoming.trace


def _short(own: Mapping[str, Any], name: str) -> str | None:
    return text(own, name, f"_meta[{PREFIX}{name}]") if name in own else None


def _whole(own: Mapping[str, Any], name: str, *, least: int) -> int | None:
    value = own.get(name)
    if value is None:
        return None
    if type(value) is not int or not least <= value <= _MAX:
        raise misshapen(f"_meta[{PREFIX}{name}] must be a whole number, {least} or more")
    return value


def _timeout_ms(incoming: Incoming) -> int | None:
    raw = incoming.head.get(_TIMEOUT_HEADER)
    if raw is None:
        return None
    raw = raw.strip()
    if not raw.isdigit() or not 1 <= int(raw[:10]) <= _MAX:
        raise unusable(_TIMEOUT_HEADER, "it must be a whole number, 1 or more")
    return int(raw[:10])


def _key(own: Mapping[str, Any]) -> str | None:
    value = own.get(KEY)
    if value is None:
        return None
    if not isinstance(value, str):
        raise Refusal(ErrorCode.INVALID_IDEMPOTENCY_KEY)
    try:
        return parse_idempotency_key(value.strip())
    except InvalidIdempotencyKey:
        raise Refusal(ErrorCode.INVALID_IDEMPOTENCY_KEY) from None


def _expect(own: Mapping[str, Any]) -> Expect | None:
    section = own.get("expect")
    if section is None:
        return None
    if not isinstance(section, dict):
        raise misshapen(f"_meta[{PREFIX}expect] must be an object")
    only(section, _EXPECT_MEMBERS, f"_meta[{PREFIX}expect]")
    return Expect(
        operation_key=text(section, "operation_key", "operation_key"),
        action_hash=text(section, "action_hash", "action_hash"),
    )
