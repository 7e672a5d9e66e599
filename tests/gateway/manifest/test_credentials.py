"""Literals that look like credentials."""

from typing import Any

import pytest

from gateway.manifest.credentials import masked
from tests.gateway.manifest.sample import KEYED, complaints, errors

HEADERS = "backend.http.headers"
QUERY = "backend.http.query"

PLANTED = [
    "sk_" + "live_4eC39HqLyjWDarjtT1zdp7dc",
    "ghp_" + "a" * 36,
    "AKIA" + "IOSFODNN7EXAMPLE",
    "xoxb-" + "1234567890-abcdef",
    "-----BEGIN RSA " + "PRIVATE KEY-----",
    "Bearer " + "abcdef0123456789",
    "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.sig",
    "https://user:" + "hunter2hunter2@pay.example/",
]


@pytest.mark.parametrize("text", PLANTED)
def test_a_literal_credential_is_refused_anywhere_and_not_repeated(text: str) -> None:
    """The complaint says where and how to mend it; it does not print the secret again."""
    (complaint,) = [it for it in complaints(KEYED, {"description": f"Use {text}"}) if it.rule == "credential"]

    assert text not in complaint.message
    assert "${secret:NAME}" in complaint.message


@pytest.mark.parametrize(
    "changes",
    [
        {HEADERS: {"Authorization": "opaque"}},
        {HEADERS: {"X-Api-Key": "1234"}},
        {HEADERS: {"Cookie": "a=b"}},
        {QUERY: {"api_key": "1234"}},
    ],
)
def test_a_header_or_parameter_for_credentials_takes_references_only(changes: dict[str, Any]) -> None:
    """Whatever it looks like, a literal there is a credential."""
    assert errors(KEYED, changes) == ["credential"]


@pytest.mark.parametrize(
    "changes",
    [
        {HEADERS: {"Authorization": "Bearer ${secret:TOKEN}"}},
        {HEADERS: {"Authorization": "{caller.attributes.token}"}},
        {HEADERS: {"X-Version": "2026-01-01"}},
        {"description": "The bearer of bad news; basic facts."},
    ],
)
def test_references_and_plain_words_are_no_credentials(changes: dict[str, Any]) -> None:
    """The rule does not cry wolf."""
    assert errors(KEYED, changes) == []


def test_what_looks_like_a_credential_is_masked_in_other_peoples_words() -> None:
    """The rest of the text stays."""
    assert masked("Use sk_live_abcdefgh12345678 here.") == "Use [...] here."
    assert masked("The bearer of bad news.") == "The bearer of bad news."
