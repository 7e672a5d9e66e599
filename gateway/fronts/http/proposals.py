"""From body and headers to a ToolCall: names and types checked, nothing else."""

import difflib
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from gateway.contract.call import Expect, ToolCall
from gateway.contract.codes import ErrorCode
from gateway.contract.keys import InvalidIdempotencyKey, parse_idempotency_key
from gateway.fronts.http.answers import Refusal, misshapen
from gateway.fronts.http.head import Incoming, unusable
from gateway.stages.feedback.context import Context

TOOL_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}", re.ASCII)
CALL_FIELDS: Final = ("arguments", "run", "approval_id", "expect", "repeat_of")
_RUN_FIELDS: Final = ("id", "step", "tokens")
_EXPECT_FIELDS: Final = ("operation_key", "action_hash")
_VISIBLE: Final = re.compile(r"[\x21-\x7e]{1,255}", re.ASCII)
_MAX_DIGITS: Final = 9
_RUN_HEADER: Final = b"oncegate-run-id"


def parse_call(tool: str, document: Mapping[str, Any], incoming: Incoming) -> ToolCall:
    """The call that a body and its headers propose.

    Raises:
        Refusal: `unknown_tool`, `invalid_request`, `invalid_header` or `invalid_idempotency_key`.
    """
    if not TOOL_NAME.fullmatch(tool):
        raise Refusal(ErrorCode.UNKNOWN_TOOL)
    only(document, CALL_FIELDS, "the body")
    arguments = document.get("arguments")
    if arguments is not None and not isinstance(arguments, dict):
        raise misshapen("arguments must be an object")
    head = incoming.head
    run = _section(document, "run", _RUN_FIELDS)
    # Most calls bring none of these.
    given: dict[str, Any] = {}
    if not _FROM_HEAD.keys().isdisjoint(head):
        given |= {field: read(name, head[name]) for name, (field, read) in _FROM_HEAD.items() if name in head}
    if not _FROM_BODY.keys().isdisjoint(document):
        given |= {name: read(name, document[name]) for name, read in _FROM_BODY.items() if name in document}
    return ToolCall(
        tool=tool,
        arguments=arguments or {},
        request_id=incoming.request_id,
        run_id=_run_id(run, head),
        step=_count(run, "step") if "step" in run else None,
        tokens=_count(run, "tokens") if "tokens" in run else None,
        traceparent=incoming.trace[0],
        tracestate=incoming.trace[1],
        **given,
    )


def known_name(value: Any) -> str | None:
    """What a caller wrote where a tool's name stands may be quoted only if it could be one. Asked of any value."""
    return value if isinstance(value, str) and TOOL_NAME.fullmatch(value) else None


def only(document: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    """Refuse names that mean nothing here: a misspelt one would be ignored in silence.

    Raises:
        Refusal: `invalid_request`.
    """
    if document.keys() <= _names(known):
        return
    unknown = sorted(document.keys() - set(known))
    near = difflib.get_close_matches(unknown[0], known, n=1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    raise Refusal(
        ErrorCode.INVALID_REQUEST,
        context=Context(reason=f"{where} may hold {', '.join(known)} and nothing else{hint}"),
        details={"unknown": unknown[:10], "known": list(known)},
    )


@cache
def _names(known: tuple[str, ...]) -> frozenset[str]:
    return frozenset(known)


def text(document: Mapping[str, Any], name: str, where: str) -> str | None:
    """A short string of visible ASCII, or nothing.

    Raises:
        Refusal: `invalid_request`.
    """
    return _text(where, document[name]) if name in document else None


def _text(where: str, value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not _VISIBLE.fullmatch(value):
        raise misshapen(f"{where} must be 1 to 255 visible ASCII characters")
    return value


def _section(document: Mapping[str, Any], name: str, known: tuple[str, ...]) -> Mapping[str, Any]:
    section = document.get(name)
    if section is None:
        return {}
    if not isinstance(section, dict):
        raise misshapen(f"{name} must be an object")
    only(section, known, name)
    return section


def _expect(name: str, section: Any) -> Expect | None:
    section = _section({name: section}, name, _EXPECT_FIELDS)
    if not section:
        return None
    return Expect(
        operation_key=text(section, "operation_key", "expect.operation_key"),
        action_hash=text(section, "action_hash", "expect.action_hash"),
    )


def _count(section: Mapping[str, Any], name: str) -> int | None:
    value = section.get(name)
    if value is None:
        return None
    if type(value) is not int or value < 0:
        raise misshapen(f"run.{name} must be a whole number, 0 or more")
    return value


def _run_id(run: Mapping[str, Any], head: Mapping[bytes, bytes]) -> str | None:
    in_body = text(run, "id", "run.id")
    if _RUN_HEADER not in head:
        return in_body
    in_head = _visible(_RUN_HEADER, head[_RUN_HEADER])
    if in_body is not None and in_body != in_head:
        raise misshapen("run.id and the header Oncegate-Run-Id name different runs")
    return in_head


def _idempotency_key(_: bytes, raw: bytes) -> str:
    try:
        return parse_idempotency_key(raw.decode("latin-1").strip())
    except InvalidIdempotencyKey:
        raise Refusal(ErrorCode.INVALID_IDEMPOTENCY_KEY) from None


def _whole_number(name: bytes, raw: bytes) -> int:
    raw = raw.strip()
    if not raw.isdigit() or len(raw) > _MAX_DIGITS or int(raw) == 0:
        raise unusable(name, "it must be a whole number, 1 or more")
    return int(raw)


def _visible(name: bytes, raw: bytes) -> str:
    value = raw.decode("latin-1").strip()
    if not _VISIBLE.fullmatch(value):
        raise unusable(name, "it must be 1 to 255 visible ASCII characters")
    return value


_FROM_HEAD: Final[Mapping[bytes, tuple[str, Callable[[bytes, bytes], Any]]]] = {
    b"idempotency-key": ("idempotency_key", _idempotency_key),
    b"idempotency-attempt": ("attempt", _whole_number),
    b"oncegate-store-epoch": ("store_epoch", _visible),
    b"x-request-timeout-ms": ("deadline_ms", _whole_number),
}
"""Headers of the contract, as fields of a ToolCall."""
_FROM_BODY: Final[Mapping[str, Callable[[str, Any], Any]]] = {
    "expect": _expect,
    "repeat_of": _text,
    "approval_id": _text,
}
