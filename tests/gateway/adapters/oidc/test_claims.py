"""Claims: what of a token counts here."""

from typing import Any

import pytest

from gateway.adapters.oidc.claims import ClaimsError, caller_of
from gateway.adapters.oidc.issuers import Issuer

BASE = {"issuer": "https://i.example", "audience": "a", "algorithms": "ES256", "tenants": ["acme"]}


def issuer(**claims: Any) -> Issuer:
    """With these claims configured."""
    return Issuer.model_validate({**BASE, "claims": claims})


@pytest.mark.parametrize(
    ("claim", "permissions"),
    [
        ("a b  c", {"a", "b", "c"}),
        (["a", "b", 1, None, ""], {"a", "b"}),
        ("operator:breakers a", {"a"}),
        ({"a": True}, set()),
        (7, set()),
        (None, set()),
        ([f"p{number}" for number in range(300)], {f"p{number}" for number in range(256)}),
    ],
)
def test_permissions_are_words(claim: Any, permissions: set[str]) -> None:
    """A text of words or a list of them; an operator's permission is no tenant's to give."""
    assert caller_of(issuer(permissions="scope"), {"sub": "s", "scope": claim}).permissions == permissions


def test_without_a_claim_nothing_is_permitted() -> None:
    """A scope that nobody asked about gives nothing."""
    assert caller_of(issuer(), {"sub": "s", "scope": "a"}).permissions == frozenset()


@pytest.mark.parametrize("value", ["text", 7, 2.5, True, False, ""])
def test_one_value_is_an_attribute(value: Any) -> None:
    """With its type."""
    assert caller_of(issuer(attributes={"x": ["a", "b"]}), {"sub": "s", "a": {"b": value}}).attributes == {"x": value}


@pytest.mark.parametrize("value", [None, [], {}, 2**53, float("inf"), float("nan"), "t" * 1025])
def test_anything_else_is_no_attribute(value: Any) -> None:
    """Too large, not finite, or more than one."""
    assert caller_of(issuer(attributes={"x": "a"}), {"sub": "s", "a": value}).attributes == {}


def test_a_path_that_leads_nowhere() -> None:
    """A claim on the way that is no object."""
    assert caller_of(issuer(attributes={"x": ["a", "b"]}), {"sub": "s", "a": "b"}).attributes == {}
    with pytest.raises(ClaimsError):
        caller_of(issuer(subject=["a", "b"]), {"sub": "s", "a": ["b"]})
