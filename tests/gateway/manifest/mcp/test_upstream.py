"""What the transport is told of an MCP server."""

from gateway.manifest.policies import StatusMeaning
from tests.gateway.manifest.mcp.sample_mcp import DIGEST, over_mcp
from tests.gateway.manifest.sample import PLAIN, compiled


def test_every_field_is_carried() -> None:
    """The tool, its digest, and what its answers mean."""
    errors = {"-32000": "refused", "-32001": "refused_retryable"}
    mcp = compiled(over_mcp(is_error="refused", errors=errors)).backend.mcp
    assert mcp is not None
    assert (mcp.name, mcp.tool, mcp.digest) == ("act", "refund", DIGEST)
    assert mcp.is_error is StatusMeaning.REFUSED
    assert mcp.errors == {-32000: StatusMeaning.REFUSED, -32001: StatusMeaning.REFUSED_RETRYABLE}


def test_an_error_proves_nothing_unless_somebody_says_so() -> None:
    """The default is the answer that never lies."""
    mcp = compiled(over_mcp()).backend.mcp
    assert mcp is not None
    assert (mcp.is_error, dict(mcp.errors)) == (StatusMeaning.UNKNOWN, {})


def test_another_backend_has_no_upstream() -> None:
    """The transport takes its request as it is."""
    assert compiled(PLAIN).backend.mcp is None
