"""Keys come from the operation: the same for every attempt, another for every other operation."""

import base64
import hashlib
import uuid
from dataclasses import replace
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contract.canonical import NotCanonical
from gateway.contract.keys import (
    Action,
    InvalidIdempotencyKey,
    OperationIdentity,
    action_hash,
    downstream_key,
    fingerprint,
    identity_text,
    key_form,
    parse_idempotency_key,
    quoted_key,
)

REFUND = OperationIdentity(
    tenant="acme", operation="issue_refund", scope=None, fields={"order_id": "ORD-4471", "payment_id": "PAY-1"}
)
ACTION = Action(
    tool="issue_refund",
    arguments={"order_id": "ORD-4471", "amount_paise": 425000},
    operation_key=identity_text(REFUND).operation_key(1),
    subject="agent-7",
    run_id="run-9",
    method="POST",
    origin="https://pay.example:443",
    target="/orders/ORD-4471/refunds",
    headers=(("content-type", "application/json"),),
    body=b'{"paise":425000}',
    policy_digest="sha256:00",
)


def test_the_key_is_the_same_for_every_attempt() -> None:
    """It fits the common limit of 64 characters and needs no escaping anywhere."""
    key = identity_text(REFUND).operation_key(1)

    assert key == identity_text(replace(REFUND, fields=dict(reversed(list(REFUND.fields.items()))))).operation_key(1)
    assert len(key) == 43
    assert key.replace("-", "").replace("_", "").isalnum()


@pytest.mark.parametrize(
    "change",
    [
        {"tenant": "other"},
        {"operation": "refund_v2"},
        {"scope": "run-9"},
        {"fields": {"order_id": "ORD-4471", "payment_id": "PAY-2"}},
        {"fields": {"order_id": "ORD-4471"}},
    ],
    ids=str,
)
def test_every_part_of_the_identity_counts(change: dict[str, Any]) -> None:
    """Another tenant, operation, scope or field is another operation."""
    other = replace(REFUND, **change)

    assert identity_text(other).operation_key(1) != identity_text(REFUND).operation_key(1)
    assert identity_text(other).identity_key() != identity_text(REFUND).identity_key()


def test_occurrences_have_their_own_keys_and_one_identity() -> None:
    """The second refund of an identity is sent under another key and found under the same one."""
    assert (
        len(
            {
                identity_text(REFUND).operation_key(1),
                identity_text(REFUND).operation_key(2),
                identity_text(REFUND).identity_key(),
            }
        )
        == 3
    )


def test_the_fingerprint_ignores_spelling_and_nothing_else() -> None:
    """Order of names and `1` against `1.0` are spelling; a null, a missing argument and `true` are not."""
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2.0, "a": 1.0})
    assert len({fingerprint(a) for a in ({}, {"a": None}, {"a": 1}, {"a": True}, {"a": "1"})}) == 5


def test_what_has_no_canonical_form_has_no_key() -> None:
    """An integer beyond 2^53 is refused before it is hashed."""
    with pytest.raises(NotCanonical):
        identity_text(replace(REFUND, fields={"order_id": 2**60})).operation_key(1)
    with pytest.raises(NotCanonical):
        fingerprint({"amount": float("nan")})
    with pytest.raises(NotCanonical):
        action_hash(replace(ACTION, arguments={"order_id": "\ud800"}))


@pytest.mark.parametrize(
    "change",
    [
        {"tool": "other"},
        {"arguments": {}},
        {"operation_key": "k"},
        {"subject": "agent-8"},
        {"run_id": None},
        {"method": "PUT"},
        {"origin": "https://evil.example:443"},
        {"target": "/orders/ORD-1/refunds"},
        {"headers": ()},
        {"body": b""},
        {"policy_digest": "sha256:01"},
    ],
    ids=str,
)
def test_an_approval_is_bound_to_every_part_of_the_action(change: dict[str, Any]) -> None:
    """A change of any part voids it."""
    assert action_hash(replace(ACTION, **change)) != action_hash(ACTION)


def test_the_action_hash_has_its_full_length() -> None:
    """It names its algorithm and is not cut."""
    algorithm, digest = action_hash(ACTION).split(":")

    assert (algorithm, len(digest)) == ("sha256", hashlib.sha256().digest_size * 2)


def test_a_raw_key_is_cut_to_what_the_provider_takes() -> None:
    """A limit of 64 leaves it whole; one of 32 cuts it; one under 128 bits is refused."""
    key = identity_text(REFUND).operation_key(1)

    assert downstream_key(key, key_format="raw", max_length=64) == key
    assert downstream_key(key, key_format="quoted", max_length=32) == key[:32]
    with pytest.raises(ValueError, match="22 characters"):
        downstream_key(key, key_format="raw", max_length=21)


@given(st.integers(1, 10_000))
def test_a_uuid_key_is_a_uuid_and_depends_on_the_key_alone(occurrence: int) -> None:
    """It has the version bits of a random one, which some providers check, and is the same each time."""
    key = identity_text(REFUND).operation_key(occurrence)

    text = downstream_key(key, key_format="uuid", max_length=36)

    assert (uuid.UUID(text).version, uuid.UUID(text).variant) == (4, uuid.RFC_4122)
    assert text == downstream_key(key, key_format="uuid", max_length=255)
    assert text != downstream_key(identity_text(REFUND).operation_key(occurrence + 1), key_format="uuid", max_length=36)


def test_a_uuid_is_never_cut() -> None:
    """A provider that takes fewer than 36 characters takes no UUID."""
    with pytest.raises(ValueError, match="36 characters"):
        downstream_key(identity_text(REFUND).operation_key(1), key_format="uuid", max_length=35)


@given(
    st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E, exclude_characters='"\\'), min_size=1, max_size=255)
)
def test_a_caller_may_quote_its_key_or_not(key: str) -> None:
    """The draft's quoted form and the bare form name the same key."""
    assert parse_idempotency_key(key) == parse_idempotency_key(quoted_key(key)) == key


def test_escapes_in_a_quoted_key_are_undone() -> None:
    """As structured fields write a quote and a backslash."""
    assert parse_idempotency_key(r'"a\"b\\c"') == r"a\"b\\c".replace('\\"', '"').replace("\\\\", "\\")


@pytest.mark.parametrize(
    "header", ["", '""', "a b", "é", "a\tb", "a" * 256, '"abc', '"abc"x', '"a b"', '"a\\x"', '"', "a\x7f", '"abc";p=1']
)
def test_other_keys_are_refused(header: str) -> None:
    """Empty, too long, blank, unprintable or half quoted."""
    with pytest.raises(InvalidIdempotencyKey):
        parse_idempotency_key(header)


def test_a_key_has_another_form_by_each_of_its_parts() -> None:
    """Where it goes and how it is written: equal only where all are, each in its place."""
    forms = {key_form("a", "b"), key_form("a", "c"), key_form("b", "a"), key_form("ab"), key_form("a")}

    assert key_form("a", "b") == key_form("a", "b")
    assert len(forms) == 5


def test_a_form_is_the_one_that_stored_attempts_have() -> None:
    """Of the canonical JSON of its parts' texts; a member of an enumeration is the text that it stands for."""
    stored = base64.urlsafe_b64encode(hashlib.sha256(b'["https://a.test","header","\xc3\xbc"]').digest())

    assert key_form("https://a.test", Place.HEADER, "ü") == stored.rstrip(b"=").decode()


class Place(StrEnum):
    """Where a key goes."""

    HEADER = "header"
