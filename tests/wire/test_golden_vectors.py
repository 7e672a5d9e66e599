"""The vectors beside this file hold for every implementation of the contract; here they are held against ours.

They were computed from the definitions in their `about` lines with an RFC 8785 encoder, SHA-256 and base64 alone.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from gateway.contract.canonical import canonical
from gateway.contract.envelope import parse_envelope
from gateway.contract.keys import (
    Action,
    InvalidIdempotencyKey,
    OperationIdentity,
    action_hash,
    downstream_key,
    fingerprint,
    identity_text,
    parse_idempotency_key,
    quoted_key,
)
from gateway.contract.strict_json import InvalidJson, loads

HERE = Path(__file__).parent


def _vectors(file: str, kind: str) -> list[Any]:
    cases = json.loads((HERE / f"{file}.json").read_text(encoding="utf-8"))[kind]
    return [pytest.param(case, id=str(case.get("name", case.get("header")))[:40]) for case in cases]


@pytest.mark.parametrize("case", _vectors("canonical", "values"))
def test_canonical_form_and_hash(case: dict[str, str]) -> None:
    """Strictly parsed text has this canonical form."""
    value = loads(case["json"].encode(), max_bytes=10_000)

    assert canonical(value) == case["canonical"].encode()
    assert hashlib.sha256(canonical(value)).hexdigest() == case["sha256"]


@pytest.mark.parametrize("case", _vectors("canonical", "refused"))
def test_refused_documents(case: dict[str, str]) -> None:
    """What has no canonical form is refused while it is read."""
    with pytest.raises(InvalidJson):
        loads(case["json"].encode(), max_bytes=10_000)


@pytest.mark.parametrize("case", _vectors("keys", "operations"))
def test_operation_keys(case: dict[str, Any]) -> None:
    """The key of an occurrence, the key of all its occurrences, and how each is written downstream."""
    identity = OperationIdentity(
        tenant=case["tenant"], operation=case["operation"], scope=case["scope"], fields=case["identity"]
    )
    key = identity_text(identity).operation_key(case["occurrence"])

    assert (key, identity_text(identity).identity_key()) == (case["operation_key"], case["identity_key"])
    assert case["downstream"] == {
        "raw_64": downstream_key(key, key_format="raw", max_length=64),
        "raw_32": downstream_key(key, key_format="raw", max_length=32),
        "quoted": quoted_key(downstream_key(key, key_format="quoted", max_length=64)),
        "uuid": downstream_key(key, key_format="uuid", max_length=64),
    }


@pytest.mark.parametrize("case", _vectors("keys", "idempotency_key_headers"))
def test_idempotency_key_headers(case: dict[str, Any]) -> None:
    """A header names this key, or (null) is refused."""
    if case["key"] is None:
        with pytest.raises(InvalidIdempotencyKey):
            parse_idempotency_key(case["header"])
    else:
        assert parse_idempotency_key(case["header"]) == case["key"]


@pytest.mark.parametrize("case", _vectors("fingerprints", "fingerprints"))
def test_fingerprints(case: dict[str, Any]) -> None:
    """Material arguments have this fingerprint."""
    assert fingerprint(case["arguments"]) == case["fingerprint"]


@pytest.mark.parametrize("case", _vectors("fingerprints", "actions"))
def test_action_hashes(case: dict[str, Any]) -> None:
    """An action, its rendered request included, has this hash."""
    parts = {name: value for name, value in case.items() if name not in {"name", "action_hash", "body", "headers"}}
    headers = tuple((name, value) for name, value in case["headers"])

    assert action_hash(Action(**parts, headers=headers, body=case["body"].encode())) == case["action_hash"]


@pytest.mark.parametrize("case", _vectors("envelopes", "envelopes"))
def test_envelopes(case: dict[str, Any]) -> None:
    """An envelope is read, sent with this status, and written back as it was."""
    envelope = parse_envelope(case["envelope"])

    assert envelope.status == case["status"]
    assert envelope.to_dict() == case["envelope"]
