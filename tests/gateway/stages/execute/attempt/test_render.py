"""Requests as they are sent."""

import pytest

from gateway.contract.codes import ErrorCode
from gateway.manifest.placeholders import CallValues, RenderError
from gateway.stages.execute.attempt.render import render
from tests.gateway.manifest.sample import KEYED, compiled

VALUES = CallValues(args={"order": "A", "amount": 1}, key="k")


def test_a_rendered_request_is_whole_and_has_no_secrets() -> None:
    """It is stored, and sent again: secret headers are added at each sending."""
    tool = compiled(KEYED, {"backend.http.headers": {"Authorization": "Bearer ${secret:TOKEN}"}})
    request = render(tool, VALUES)

    assert (request.method, request.origin, request.target) == ("POST", "https://pay.example:443", "/v1/orders/A/acts")
    assert ("Idempotency-Key", "k") in request.headers
    assert request.body == b'{"n":1}'
    assert "s3cret" not in str(request)
    assert render(tool, VALUES) == request


def test_a_request_beyond_the_tools_bound_is_never_sent() -> None:
    """`limits.request_bytes` holds for target and body together, to the byte."""
    size = len("/v1/orders/A/acts" + '{"n":1}')

    assert render(compiled(KEYED, {"limits.request_bytes": f"{size}B"}), VALUES).body == b'{"n":1}'
    with pytest.raises(RenderError, match="larger than 23 bytes") as caught:
        render(compiled(KEYED, {"limits.request_bytes": f"{size - 1}B"}), VALUES)
    assert caught.value.code is ErrorCode.BODY_TOO_LARGE


def test_a_value_that_cannot_be_sent_is_the_arguments_fault() -> None:
    """The code is the one that the caller is told."""
    with pytest.raises(RenderError) as caught:
        render(compiled(KEYED), CallValues(args={"order": "../x", "amount": 1}, key="k"))
    assert caught.value.code is ErrorCode.INVALID_ARGUMENTS
