"""Addresses that must hold no credential."""

import pytest

from gateway.cli.addresses import refuse_credentials
from gateway.cli.exits import Failure
from tests.gateway.cli.run import run

CANARY = "CANARY-7f3a"


@pytest.mark.parametrize(
    "url", [f"http://user:{CANARY}@host/x", f"https://{CANARY}@host", f"http://:{CANARY}@host?a#b"]
)
def test_a_password_in_an_address_is_refused_and_not_repeated(url: str) -> None:
    """Whatever it stands beside."""
    with pytest.raises(Failure) as refused:
        refuse_credentials("--url", url)
    assert refused.value.exit_code == 2
    assert CANARY not in refused.value.message


@pytest.mark.parametrize("url", ["http://host/a@b", "http://host?a=b@c", "https://host:1/", "no address"])
def test_what_stands_behind_the_host_is_none(url: str) -> None:
    """Nor is a text that is no address, which others refuse."""
    refuse_credentials("--url", url)


@pytest.mark.parametrize("words", [("operations", "list"), ("mcp",), ("call", "issue_refund")])
@pytest.mark.parametrize("behind", [f"?token={CANARY}", f"/mcp?token={CANARY}", f"#{CANARY}", f"/?{CANARY}#"])
def test_no_gateway_has_a_query_or_a_fragment(words: tuple[str, ...], behind: str) -> None:
    """A token in it would be told to whoever asks why nobody answers."""
    key = {"ONCEGATE_KEY": f"og_{12 * '0'}_{43 * 'x'}"}
    ended = run(*words, "--url", f"http://127.0.0.1:9{behind}", environment=key)
    assert ended.exit_code == 2, ended.output
    assert "holds a query or a fragment" in ended.output
    assert CANARY not in ended.output


@pytest.mark.parametrize(
    "words",
    [
        ("operations", "list", "--url"),
        ("mcp", "--url"),
        ("import", "mcp"),
        ("import", "openapi"),
    ],
)
def test_no_command_takes_or_shows_one(words: tuple[str, ...]) -> None:
    """Before anything is asked of it; a bridge would tell it to a model."""
    owner = ("--owner", "team") if words[0] == "import" else ()
    key = {"ONCEGATE_KEY": f"og_{12 * '0'}_{43 * 'x'}"}
    ended = run(*words, f"http://user:{CANARY}@127.0.0.1:9/x", *owner, environment=key)
    assert ended.exit_code == 2, ended.output
    assert "holds a user or a password" in ended.output
    assert CANARY not in ended.output
