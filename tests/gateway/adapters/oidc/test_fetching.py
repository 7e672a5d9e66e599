"""Fetching: an issuer's answer, or one sentence."""

import asyncio
import gzip
import json
import ssl
from pathlib import Path
from typing import Any

import pytest

from gateway.adapters.oidc.fetching import MOST_BYTES, FetchError, fetch, trust
from tests.gateway.adapters.oidc.issuer import LocalIssuer, answer

TIMEOUT_S = 10.0


def says(reply: bytes) -> Any:
    """A manner: that, whatever was asked."""

    async def manner(writer: asyncio.StreamWriter) -> None:
        writer.write(reply)

    return manner


async def test_a_document_is_parsed(issuer: LocalIssuer) -> None:
    """What is asked for is plain JSON, without compression."""
    assert await fetch(f"{issuer.url}/keys", trust(issuer.ca_file), TIMEOUT_S) == {"keys": [issuer.keys[0].jwk]}
    assert "accept-encoding: identity" in issuer.heads[0].lower()


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (answer(b"<html>PLANTED</html>"), "is not JSON"),
        (answer(b"[" * 100_000), "is not JSON"),
        (answer(b"\xff\xfe"), "is not JSON"),
        (answer(b'"%s"' % (b"x" * MOST_BYTES)), f"is larger than {MOST_BYTES} bytes"),
        (answer(gzip.compress(b"{}"), 200, "Content-Encoding: gzip"), "answered compressed"),
        (answer(b"{}", 500), "answered with status 500"),
        (answer(b"", 302, "Location: https://localhost:1/PLANTED"), "answered with status 302"),
        (b"PLANTED PLANTED\r\n\r\n", "could not be read (RemoteProtocolError)"),
        (b"", "could not be read (RemoteProtocolError)"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{}", "could not be read (RemoteProtocolError)"),
    ],
)
async def test_any_other_answer_is_one_sentence(issuer: LocalIssuer, reply: bytes, sentence: str) -> None:
    """It repeats nothing of what came."""
    issuer.manner = says(reply)
    with pytest.raises(FetchError) as refused:
        await fetch(f"{issuer.url}/keys", trust(issuer.ca_file), TIMEOUT_S)

    assert sentence in str(refused.value)
    assert "PLANTED" not in str(refused.value)
    assert len(issuer.asked) == 1


async def test_an_endless_answer_ends(issuer: LocalIssuer) -> None:
    """By its size, if it is quick."""

    async def pour(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b" " * 65_536)
            await writer.drain()

    issuer.manner = pour
    with pytest.raises(FetchError, match="is larger"):
        await fetch(f"{issuer.url}/keys", trust(issuer.ca_file), TIMEOUT_S)


async def test_a_silent_server_is_waited_for_no_longer_than_said(issuer: LocalIssuer) -> None:
    """The time is for all of it."""
    issuer.manner = issuer.hang
    with pytest.raises(FetchError, match=r"did not answer within 0\.2 s|could not be read \(ReadTimeout\)"):
        await fetch(f"{issuer.url}/keys", trust(issuer.ca_file), 0.2)


async def test_only_trusted_servers_are_asked(issuer: LocalIssuer) -> None:
    """A certificate that nobody trusted vouches for nothing, and no question is put."""
    with pytest.raises(FetchError, match="ConnectError"):
        await fetch(f"{issuer.url}/keys", trust(None), TIMEOUT_S)
    assert issuer.asked == []


async def test_the_environment_names_no_proxy(issuer: LocalIssuer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys come from the issuer, not through whoever set a variable."""
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    assert await fetch(f"{issuer.url}/keys", trust(issuer.ca_file), TIMEOUT_S)


async def test_an_address_that_is_none_is_a_sentence(issuer: LocalIssuer) -> None:
    """Nothing of the library's escapes."""
    for url in ("https://localhost:1/keys", "https://[::", "https://" + "a" * 300):
        with pytest.raises(FetchError):
            await fetch(url, trust(issuer.ca_file), TIMEOUT_S)


def test_a_file_without_certificates_is_refused(tmp_path: Path) -> None:
    """At start, by its error."""
    (tmp_path / "none.pem").write_text(json.dumps({}))
    with pytest.raises(ssl.SSLError):
        trust(tmp_path / "none.pem")
