"""A stored request sends the same bytes to the same place, and holds no secret."""

import pytest

from gateway.manifest.templates import RenderedRequest
from gateway.stages.execute.attempt.stored_request import dress, pack, unpack

_REQUEST = RenderedRequest(
    method="POST",
    origin="https://pay.example:443",
    target="/v1/orders/A1/acts?n=1&n=2",
    headers=(("idempotency-key", '"k"'), ("content-type", "application/json"), ("x-twice", "1"), ("x-twice", "2")),
    body=b'{"n":1}\x00\xff',
)


@pytest.mark.parametrize("body", [b"", b"\x00\xff", bytes(range(256)) * 300])
def test_what_is_stored_is_sent_byte_for_byte(body: bytes) -> None:
    """Method, origin, target, headers in their order and number, and any body."""
    request = RenderedRequest(
        method=_REQUEST.method, origin=_REQUEST.origin, target=_REQUEST.target, headers=_REQUEST.headers, body=body
    )

    assert unpack(pack(_REQUEST)) == _REQUEST
    assert unpack(pack(request)) == request
    assert pack(unpack(pack(request))) == pack(request)


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        b"not json",
        b"[]",
        b"null",
        b"{}",
        pack(_REQUEST).replace(b'"origin"', b'"place"'),
        pack(_REQUEST).replace(b'"headers":[', b'"headers":[["lone"],'),
        b'{"method":"POST","origin":"o","target":"/","headers":null,"body":""}',
        b'{"method":"POST","origin":"o","target":"/","headers":[],"body":null}',
        b'{"method":"POST","origin":"o","target":"/","headers":[],"body":"abc"}',
    ],
)
def test_what_was_not_stored_by_us_is_not_sent(stored: bytes) -> None:
    """Half a request is none."""
    with pytest.raises(ValueError, match=r"."):
        unpack(stored)


def test_what_belongs_to_one_sending_is_added_then() -> None:
    """Time left and trace context follow the stored headers; credentials travel apart."""
    wire = dress(
        _REQUEST, extra=(("traceparent", "00-1"), ("x-deadline-ms", "900")), secrets=(("authorization", "s3cret"),)
    )

    assert wire.headers == (*_REQUEST.headers, ("traceparent", "00-1"), ("x-deadline-ms", "900"))
    assert wire.secret_headers == (("authorization", "s3cret"),)
    assert (wire.method, wire.origin, wire.target, wire.body) == (
        _REQUEST.method, _REQUEST.origin, _REQUEST.target, _REQUEST.body,
    )  # fmt: skip
    assert "s3cret" not in repr(wire)


def test_dressing_changes_nothing_stored() -> None:
    """The next sending gets its own time, trace and credentials."""
    before = pack(_REQUEST)
    dress(_REQUEST, extra=(("traceparent", "00-1"),), secrets=(("authorization", "s3cret"),))

    assert pack(_REQUEST) == before
