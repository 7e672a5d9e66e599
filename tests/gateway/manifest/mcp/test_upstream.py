"""What the transport is told of an MCP server."""

from typing import Any

import pytest

from gateway.manifest.policies import StatusMeaning
from tests.gateway.manifest.mcp.sample_mcp import DIGEST, over_mcp
from tests.gateway.manifest.sample import PLAIN, compiled, complaints


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


def test_a_process_has_its_words_and_its_environment() -> None:
    """Values of the operator are in place, secrets too."""
    section = {
        "url": None,
        "command": "server",
        "args": ["-u", "${API}"],
        "env": {"T": "x-${secret:TOKEN}", "A": "${API}"},
    }
    mcp = compiled(over_mcp(**section)).backend.mcp
    assert mcp is not None
    assert mcp.command == ("server", "-u", "https://pay.example/v1")
    assert mcp.env == {"T": "x-s3cret", "A": "https://pay.example/v1"}
    assert "s3cret" not in repr(mcp)


def test_a_process_has_a_host_that_is_nowhere() -> None:
    """Its breaker and its spans are named by it; another command is another."""
    first = compiled(over_mcp(url=None, command="/opt/Refund Server")).backend.origin
    assert first.startswith("http://refund-server-")
    assert first.endswith(".stdio.invalid:80")
    assert first != compiled(over_mcp(url=None, command="/opt/Refund Server", args=["-v"])).backend.origin


LINTED: list[tuple[dict[str, Any], str, tuple[int, int], str]] = [
    ({"command": "server"}, "mcp", (44, 3), "write `url`, for a server on the network, or `command`"),
    ({"url": None, "command": "server", "headers": {"A": "b"}}, "no-effect", (48, 4), "without `url`"),
    ({"url": None, "command": "{args.order}"}, "template", (47, 15), "nothing of a call"),
    ({"url": None, "command": "a", "args": ["{args.order}"]}, "template", (49, 5), "nothing of a call"),
    ({"url": None, "command": "a", "env": {"A": "{args.order}"}}, "template", (49, 10), "nothing of a call"),
    ({"url": None, "command": "a", "args": ["${secret:TOKEN}"]}, "credential", (49, 5), "give it a secret in `env`"),
    ({"url": None, "command": "a", "env": {"API_KEY": "abc"}}, "credential", (49, 16), "carries a credential"),
    ({"url": None, "command": "a", "env": {"A": "${NOWHERE}"}}, "template", (49, 10), "NOWHERE is not"),
    ({"url": None, "command": "a", "env": {"A": "{"}}, "template", (49, 11), "single brace"),
    ({"url": None, "command": "a", "env": {"A=B": "c"}}, "shape", (49, 5), "this must match"),
]


@pytest.mark.parametrize(("section", "rule", "place", "words"), LINTED)
def test_what_a_process_cannot_be_given(section: dict[str, Any], rule: str, place: tuple[int, int], words: str) -> None:
    """Nothing of a call, since it serves every call; no secret where others read it."""
    (found,) = [it for it in complaints(over_mcp(**section)) if it.severity == "error"]
    assert (found.rule, words in found.message) == (rule, True), found
    assert (found.line, found.column) == place
