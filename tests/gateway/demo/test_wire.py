import asyncio

import pytest

from gateway.demo.wire import LARGEST_BODY, BadRequestError, Reply, Request, read_request


async def read(*pieces: bytes) -> Request | None:
    """Read one request from these bytes, followed by the end of the connection."""
    reader = asyncio.StreamReader()
    for piece in pieces:
        reader.feed_data(piece)
    reader.feed_eof()
    return await read_request(reader)


async def test_a_request_is_read_whole() -> None:
    """Method, path, query, headers in lower case and body."""
    request = await read(
        b"POST /orders/ORD%2D1/refunds?a=b HTTP/1.1\r\nContent-Length: 7\r\nX-Y: z \r\n\r\n", b'{"c":1}'
    )

    assert request is not None
    assert (request.method, request.path, request.query) == ("POST", "/orders/ORD-1/refunds", {"a": "b"})
    assert (request.headers["x-y"], request.json()) == ("z", {"c": 1})


@pytest.mark.parametrize("cut", [b"", b"POST / HT", b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n{"])
async def test_a_connection_that_ends_early_is_no_request(cut: bytes) -> None:
    """A request that was cut is not carried out."""
    assert await read(cut) is None


@pytest.mark.parametrize(
    "head",
    [
        b"nonsense\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        b"POST / HTTP/1.1\r\nno colon\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (LARGEST_BODY + 1),
        b"POST /" + b"x" * (1 << 17),
    ],
)
async def test_what_is_not_a_request_is_refused(head: bytes) -> None:
    """Bytes that this server does not read raise, and nothing is carried out."""
    with pytest.raises(BadRequestError):
        await read(head)


@pytest.mark.parametrize("body", [b"{", b"[]", b"\xff"])
def test_a_body_must_be_an_object(body: bytes) -> None:
    """Anything but a JSON object is a bad request."""
    request = Request(method="POST", path="/", query={}, headers={}, body=body)
    with pytest.raises(BadRequestError):
        request.json()


def test_a_reply_says_its_length_and_half_of_it_does_not_keep_the_promise() -> None:
    """Half a reply has the whole head and fewer bytes than it promises."""
    reply = Reply(status=200, body={"refund_id": "RF-1"}, headers=(("Idempotent-Replayed", "true"),))
    head, _, body = reply.encode().partition(b"\r\n\r\n")
    half_head, _, half_body = reply.half().partition(b"\r\n\r\n")

    assert b"Content-Length: %d" % len(body) in head
    assert b"Idempotent-Replayed: true" in head
    assert half_head == head
    assert 0 < len(half_body) < len(body)
