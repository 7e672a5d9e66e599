"""Bodies: bounded in size and time."""

import asyncio

import pytest

from gateway.contract.codes import ErrorCode
from gateway.fronts.http.answers import Refusal
from gateway.fronts.http.bodies import BodyLimits, parse_object
from tests.gateway.fronts.http.fake_core import TOKEN
from tests.gateway.fronts.http.served import Served, read_answer, serving

PATH = "/v1/tools/issue_refund/calls"
HEAD = (
    f"POST {PATH} HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n".encode()
)
LIMITS = BodyLimits(max_bytes=100, timeout_s=1)


async def test_a_declared_length_over_the_limit_is_refused_unread() -> None:
    """413 comes before the body does."""
    async with serving(request_bytes=1024) as served:
        status, _, body = await served.raw(HEAD + b"Content-Length: 1025\r\n\r\n")

    assert (status, body["error"]["code"]) == (413, "body_too_large")
    assert body["error"]["details"] == {"limit_bytes": 1024}


async def test_a_chunked_body_is_counted() -> None:
    """Without a declared length the bytes themselves are counted: a body that never ends is refused at the limit."""
    async with serving(request_bytes=1024) as served:
        chunk = b"400\r\n" + b" " * 1024 + b"\r\n"
        status, _, body = await served.raw(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 2)
        asked = served.core.asked

    assert (status, body["error"]["code"]) == (413, "body_too_large")
    assert asked == []


async def test_a_body_at_the_limit_is_read() -> None:
    """The limit itself is allowed."""
    async with serving(request_bytes=1024) as served:
        status, _, _ = await served.post(PATH, b"{}" + b" " * 1022)

    assert status == 200


async def test_a_body_in_pieces_is_one_body(served: Served) -> None:
    """A body that arrives in two writes is parsed as a whole."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    writer.write(HEAD + b'Content-Length: 23\r\n\r\n{"argume')
    await writer.drain()
    writer.write(b'nts":{"a":"b"}}')
    _, _, body = await read_answer(reader)
    writer.close()

    assert body["data"] == {"echo": {"a": "b"}}


async def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    """After `body_timeout_s` the request is refused: a slow sender holds nothing of ours."""
    async with serving(body_timeout_s=0.05) as served:
        status, _, body = await served.raw(HEAD + b"Content-Length: 10\r\n\r\n{")

    assert (status, body["error"]["code"]) == (400, "invalid_request")
    assert "0.05 s" in body["error"]["message"]


async def test_a_client_that_waits_for_leave_gets_it(served: Served) -> None:
    """Expect: 100-continue is answered once the head was accepted."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    writer.write(HEAD + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
    interim = await reader.readuntil(b"\r\n\r\n")
    writer.write(b"{}")
    status, _, _ = await read_answer(reader)
    writer.close()

    assert interim.startswith(b"HTTP/1.1 100")
    assert status == 200


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", ErrorCode.INVALID_JSON),
        (b"[]", ErrorCode.INVALID_REQUEST),
        (b"{}" + b" " * 100, ErrorCode.BODY_TOO_LARGE),
    ],
)
def test_only_a_bounded_object_is_a_body(body: bytes, code: ErrorCode) -> None:
    """What is no JSON, no object, or too long has each its own code."""
    with pytest.raises(Refusal) as refused:
        parse_object(body, LIMITS)

    assert refused.value.code is code


def test_the_fault_is_named_without_the_text() -> None:
    """`details.fault` says what is wrong with the JSON; nothing of the body is repeated."""
    with pytest.raises(Refusal) as refused:
        parse_object(b'{"password":"hunter2","password":"x"}', LIMITS)

    assert refused.value.details == {"fault": "duplicate_name"}
    assert "hunter2" not in str(refused.value.context)
