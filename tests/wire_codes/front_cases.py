"""Codes of the request itself, of validation and of permission: nothing comes so far as to be sent."""

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from gateway.contract.codes import ErrorCode
from tests.gateway.pipeline.provider import answer
from tests.gateway.pipeline.rig import plain, read
from tests.wire_codes.case import Case
from tests.wire_codes.stand import Answer, Stand

_C = ErrorCode
_PLAIN: Final = (plain(),)
_CALLS: Final = "/v1/tools/act/calls"


async def _not_json(stand: Stand) -> Answer:
    return await stand.post(_CALLS, b'{"arguments": {"order": "A", "amount": NaN}}')


async def _misspelt(stand: Stand) -> Answer:
    return await stand.call(body={"argument": {}})


async def _attempt_in_words(stand: Stand) -> Answer:
    return await stand.call(idempotency_attempt="second")


async def _key_with_a_space(stand: Stand) -> Answer:
    return await stand.call(idempotency_key="refund 1")


async def _too_large(stand: Stand) -> Answer:
    return await stand.call(arguments={"order": "A" * 2000, "amount": 5})


async def _as_text(stand: Stand) -> Answer:
    return await stand.call(content_type="text/plain")


async def _unknown_key(stand: Stand) -> Answer:
    answer = await stand.call(authorization="Bearer og_aaaaaaaaaaaa_" + "b" * 43)
    assert answer.headers["www-authenticate"].startswith("Bearer")
    return answer


async def _token_of_an_issuer_that_is_away(stand: Stand) -> Answer:
    claims = {"iss": "https://localhost:1", "aud": "gateway", "sub": "agent", "iat": 0, "exp": 1}
    parts = [json.dumps(it).encode() for it in ({"alg": "ES256", "kid": "k1"}, claims)]
    token = ".".join(base64.urlsafe_b64encode(it).decode().rstrip("=") for it in (*parts, b"none"))
    return await stand.call(authorization=f"Bearer {token}")


async def _no_route(stand: Stand) -> Answer:
    return await stand.get("/v1/nothing")


async def _get_of_calls(stand: Stand) -> Answer:
    answer = await stand.get(_CALLS)
    assert answer.headers["allow"] == "POST"
    return answer


async def _no_operation(stand: Stand) -> Answer:
    return await stand.get("/v1/operations/01ARZ3NDEKTSV4RRFFQ69G5FAV")


async def _no_breaker(stand: Stand) -> Answer:
    return await stand.post("/v1/breakers/nobodys", b'{"state": "auto"}', authorization=f"Bearer {stand.lead}")


async def _no_tool(stand: Stand) -> Answer:
    return await stand.call(tool="acts")


def _with(arguments: Mapping[str, Any]) -> Case:
    async def play(stand: Stand) -> Answer:
        return await stand.call(arguments=arguments)

    return Case(play=play, manifests=_PLAIN)


async def _plain_call(stand: Stand) -> Answer:
    return await stand.call()


async def _without_permission(stand: Stand) -> Answer:
    return await stand.call(authorization=f"Bearer {stand.reader}")


async def _someone_elses_word(stand: Stand) -> Answer:
    return await stand.call(body={"expect": {"operation_key": "another"}})


async def _nothing_to_ask(stand: Stand) -> Answer:
    stand.provider.every_read = answer(503)
    return await stand.call()


def _ruled(code: str, require: str, *, asks: bool = False) -> tuple[Mapping[str, Any], ...]:
    """A write under one rule."""
    rule: dict[str, Any] = {"code": code, "require": require, "message": "The rule of {args.order} says no."}
    if asks:
        rule["lookup"] = {"tool": "get_status", "arguments": {"order": "{args.order}"}}
    return (plain({"rules": [rule]}), read({"retry": {"max_attempts": 1}}))


_SAYS_NO: Final = "The rule of A says no."
_OUTSIDE: Final = Case(play=_no_route, rows=False)

CASES: Final[Mapping[ErrorCode, Case]] = {
    _C.INVALID_JSON: Case(play=_not_json, manifests=_PLAIN),
    _C.INVALID_REQUEST: Case(play=_misspelt, manifests=_PLAIN, says="arguments"),
    _C.INVALID_HEADER: Case(play=_attempt_in_words, manifests=_PLAIN, says="Idempotency-Attempt"),
    _C.INVALID_IDEMPOTENCY_KEY: Case(play=_key_with_a_space, manifests=_PLAIN),
    _C.BODY_TOO_LARGE: Case(play=_too_large, manifests=_PLAIN, stand={"settings": {"request_bytes": 1024}}),
    _C.UNSUPPORTED_MEDIA_TYPE: Case(play=_as_text, manifests=_PLAIN),
    # Nobody knows whose row it would be.
    _C.UNAUTHENTICATED: Case(play=_unknown_key, manifests=_PLAIN, rows=False),
    _C.AUTHENTICATION_UNAVAILABLE: Case(
        play=_token_of_an_issuer_that_is_away,
        manifests=_PLAIN,
        stand={"settings": {"issuers": Path(__file__).parent / "issuers.yaml"}},
        rows=False,
    ),
    _C.ROUTE_NOT_FOUND: _OUTSIDE,
    _C.METHOD_NOT_ALLOWED: Case(play=_get_of_calls, rows=False),
    _C.OPERATION_NOT_FOUND: Case(play=_no_operation, rows=False),
    _C.BREAKER_NOT_FOUND: Case(play=_no_breaker, rows=False),
    _C.UNKNOWN_TOOL: Case(play=_no_tool, manifests=_PLAIN, says="act"),
    _C.MISSING_ARGUMENTS: _with({"order": "A"}),
    _C.UNKNOWN_ARGUMENTS: _with({"order": "A", "amount": 5, "amont": 5}),
    _C.WRONG_TYPE: _with({"order": "A", "amount": "5"}),
    _C.INVALID_ARGUMENTS: _with({"order": "A", "amount": 0}),
    _C.RUN_ID_REQUIRED: Case(play=_plain_call, manifests=(plain({"identity.scope": "run"}),), says="run"),
    _C.IDEMPOTENCY_KEY_REQUIRED: Case(
        play=_plain_call, manifests=(plain({"identity.fields": "caller"}),), says="Idempotency-Key"
    ),
    _C.FORBIDDEN: Case(play=_without_permission, manifests=_PLAIN, says="things:write"),
    _C.OVER_LIMIT: Case(play=_plain_call, manifests=_ruled("over_limit", "args.amount < 5"), says=_SAYS_NO),
    _C.NOT_OWNER: Case(
        play=_plain_call, manifests=_ruled("not_owner", "lookup.data.status == 'mine'", asks=True), says=_SAYS_NO
    ),
    _C.RULE_DENIED: Case(play=_plain_call, manifests=_ruled("closed_today", "args.amount < 5"), says=_SAYS_NO),
    _C.RULE_ERROR: Case(
        play=_plain_call,
        manifests=_ruled("over_limit", "args.amount <= caller.attributes.most"),
        says="this caller has no attributes.most",
    ),
    _C.RULE_LOOKUP_FAILED: Case(
        play=_nothing_to_ask,
        manifests=_ruled("not_owner", "lookup.data.status == 'mine'", asks=True),
        says="get_status answered unavailable",
    ),
    _C.INTENT_STALE: Case(play=_someone_elses_word, manifests=_PLAIN),
}
