"""`tool_caller`: a gateway in process. What a whole test of a manifest looks like is run from the page."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.contract.codes import ErrorCode
from gateway.testing import tool_caller
from tests.gateway.manifest.sample import ENVIRONMENT
from tests.gateway.pipeline.rig import plain, read

DO = {"order": "a", "amount": 5}


def folder(tmp_path: Path, *manifests: Mapping[str, Any]) -> Path:
    """A directory of manifests."""
    for manifest in manifests:
        (tmp_path / f"{manifest['name']}.yaml").write_text(json.dumps(manifest))
    return tmp_path


def done(_: httpx.Request) -> httpx.Response:
    """A provider that does everything."""
    return httpx.Response(201, json={"id": "A-1"})


def unexpected(request: httpx.Request) -> httpx.Response:
    """A provider that a test wants to have nothing of."""
    raise AssertionError(f"{request.method} was not expected")


async def test_a_write_that_nobody_could_settle_is_made_once(tmp_path: Path) -> None:
    """The second call is the same operation, and the store may forget it."""
    async with tool_caller(folder(tmp_path, plain()), httpx.MockTransport(done), environment=ENVIRONMENT) as tools:
        first, again = await tools.call("act", DO), await tools.call("act", {**DO, "order": "A "})

    assert (first.ok, first.meta.replayed, again.meta.replayed) == (True, False, True)
    assert again.meta.operation_id == first.meta.operation_id


async def test_the_operation_that_a_call_repeats_reaches_the_pipeline(tmp_path: Path) -> None:
    """A manifest says whether it may be."""
    async with tool_caller(folder(tmp_path, plain()), httpx.MockTransport(done), environment=ENVIRONMENT) as tools:
        first = await tools.call("act", DO)
        again = await tools.call("act", DO, repeat_of=first.meta.operation_id, idempotency_key="k")

    assert again.error is not None
    assert again.error.code is ErrorCode.REPEAT_NOT_ALLOWED
    assert again.meta.idempotency_key == "k"


async def test_attributes_and_secrets_are_what_manifests_ask_for(tmp_path: Path) -> None:
    """A rule reads the one, a header has the other."""
    sent: list[httpx.Request] = []

    def look(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return done(request)

    rule = {"code": "not_owner", "require": "args.order == caller.attributes.mine", "message": "not yours"}
    changes = {"rules": [rule], "backend.http.headers": {"Authorization": "Bearer ${secret:TOKEN}"}}
    async with tool_caller(
        folder(tmp_path, plain(changes)),
        httpx.MockTransport(look),
        environment=ENVIRONMENT,
        secrets={"TOKEN": "t"},
        attributes={"mine": "A"},
    ) as tools:
        mine, other = await tools.call("act", DO), await tools.call("act", {**DO, "order": "B"})

    assert mine.ok, mine.error
    assert other.error is not None
    assert other.error.code is ErrorCode.NOT_OWNER
    assert [request.headers["Authorization"] for request in sent] == ["Bearer t"]


@pytest.mark.parametrize(("tool", "arguments"), [("get_status", {"order": "A"}), ("act", DO)])
async def test_what_nobody_expected_fails_the_test(tmp_path: Path, tool: str, arguments: Mapping[str, Any]) -> None:
    """And is no unknown outcome that it would have to look for; the next call is another."""
    provider = httpx.MockTransport(unexpected)
    async with tool_caller(folder(tmp_path, plain(), read()), provider, environment=ENVIRONMENT) as tools:
        with pytest.raises(AssertionError, match="was not expected"):
            await tools.call(tool, arguments)
        assert (await tools.call("nothing", {})).error is not None


async def test_what_fails_after_the_answer_fails_the_block(tmp_path: Path) -> None:
    """A write goes on when its caller has been answered."""
    answered = asyncio.Event()

    async def late(request: httpx.Request) -> httpx.Response:
        await answered.wait()
        return unexpected(request)

    quick = plain({"timeouts.read": "20ms"})
    with pytest.raises(AssertionError, match="was not expected"):  # noqa: PT012 - it is the block's end that raises
        async with tool_caller(folder(tmp_path, quick), httpx.MockTransport(late), environment=ENVIRONMENT) as tools:
            answer = await tools.call("act", DO)
            assert answer.error is not None
            assert answer.error.code is ErrorCode.TIMEOUT_UNKNOWN_OUTCOME
            answered.set()


async def test_an_application_is_a_provider(tmp_path: Path) -> None:
    """In process, over ASGI."""

    async def app(scope: Any, _: object, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": json.dumps({"status": scope["path"]}).encode()})

    async with tool_caller(folder(tmp_path, read()), httpx.ASGITransport(app), environment=ENVIRONMENT) as tools:
        answer = await tools.call("get_status", {"order": "A"})

    assert answer.data == {"status": "/v1/orders/A"}


async def test_a_directory_that_does_not_load_says_why(tmp_path: Path) -> None:
    """File, line and column."""
    with pytest.raises(ValueError, match=r"act.yaml:1:\d+: "):
        async with tool_caller(folder(tmp_path, plain({"effect": "maybe"})), httpx.MockTransport(done)):
            pass
