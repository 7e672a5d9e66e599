"""The two headers about rates."""

from gateway.contract.envelope import Envelope, Meta, Share, succeed
from gateway.fronts.http.answers import answer_of
from gateway.fronts.http.rate_headers import rate_headers

FIRST = Share(name="tool-caller-per-s", quota=50, window_s=1, left=49, reset_s=1)
SECOND = Share(name="tenant-per-d", quota=1000, window_s=86400, left=0, reset_s=87)


def test_each_rate_is_an_item_of_both_lists() -> None:
    """In their order, by their names."""
    assert rate_headers([FIRST, SECOND]) == [
        (b"ratelimit-policy", b'"tool-caller-per-s";q=50;w=1, "tenant-per-d";q=1000;w=86400'),
        (b"ratelimit", b'"tool-caller-per-s";r=49;t=1, "tenant-per-d";r=0;t=87'),
    ]


def test_a_call_without_rates_has_neither() -> None:
    """And the body says nothing of them in any case."""
    plain = succeed(1, Meta(request_id="r"))
    rated = Envelope(ok=True, data=1, error=None, meta=plain.meta, shares=(FIRST,))

    assert not any(name.startswith(b"ratelimit") for name, _ in answer_of(plain).headers)
    assert dict(answer_of(rated).headers)[b"ratelimit"] == b'"tool-caller-per-s";r=49;t=1'
    assert answer_of(rated).body == answer_of(plain).body
