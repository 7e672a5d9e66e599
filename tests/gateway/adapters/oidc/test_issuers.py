"""The file of issuers: what may be in it, and where a complaint points."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.adapters.oidc.issuers import IssuersError, read_issuers

GOOD: dict[str, Any] = {
    "issuer": "https://login.example",
    "audience": "https://oncegate.example",
    "algorithms": ["RS256"],
    "tenants": ["acme"],
}


def refusal(folder: Path, text: str) -> str:
    """The complaint about a file, without its path."""
    path = folder / "issuers.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(IssuersError) as refused:
        read_issuers(path)
    return str(refused.value).replace(str(path), "F")


def test_a_file_as_people_write_it(tmp_path: Path) -> None:
    """Durations with units, one word where a list of one would do, paths into nested claims."""
    path = tmp_path / "issuers.yaml"
    path.write_text(
        """
issuers:
  - issuer: https://login.example/realms/acme
    audience: https://oncegate.example
    algorithms: ES256
    tenants: [acme, globex]
    claims: {tenant: org, permissions: [realm_access, roles], attributes: {max_refund_paise: [limits, refund]}}
    skew: 10s
    max_lifetime: 1h
    refresh: 5m
    keep: 2h
    cooldown: 20s
    timeout: 500ms
""",
        encoding="utf-8",
    )
    (issuer,) = read_issuers(path)

    assert (issuer.audience, issuer.algorithms) == (("https://oncegate.example",), ("ES256",))
    assert (issuer.claims.subject, issuer.claims.permissions) == (("sub",), ("realm_access", "roles"))
    assert (issuer.skew, issuer.max_lifetime, issuer.refresh) == (10.0, 3600.0, 300.0)
    assert (issuer.keep, issuer.cooldown, issuer.timeout) == (7200.0, 20.0, 0.5)


@pytest.mark.parametrize(
    "wrong",
    [
        {"issuer": "http://login.example"},
        {"issuer": "https://user@login.example"},
        {"issuer": "https://login.example?x=1"},
        {"issuer": None},
        {"audience": []},
        {"audience": ""},
        {"algorithms": []},
        {"algorithms": ["none"]},
        {"algorithms": ["HS256"]},
        {"algorithms": ["RS256", "HS512"]},
        {"tenants": []},
        {"tenants": ["a\nb"]},
        {"tenants": ["acme", "globex"]},
        {"jwks_uri": "http://login.example/keys"},
        {"subject_prefix": "a b"},
        {"grants": {"a": ["b"]}},
        {"claims": {"attributes": {"x": []}}},
        {"claims": {"subjct": "sub"}},
        {"skew": "61s"},
        {"skew": "soon"},
        {"max_lifetime": 0},
        {"refresh": "0s"},
        {"keep": "8d"},
        {"keep": "1m"},
        {"cooldown": "0s"},
        {"timeout": "1m"},
        {"leeway": "30s"},
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path: Path, wrong: dict[str, Any]) -> None:
    """Every field has its range, there are no others, and the complaint says file and line."""
    assert refusal(tmp_path, json.dumps({"issuers": [{**GOOD, **wrong}]})).startswith("F:1: ")


def test_a_complaint_names_the_line(tmp_path: Path) -> None:
    """Of the value, or of the entry that lacks it."""
    text = "issuers:\n- issuer: https://login.example\n  audience: x\n  tenants: [acme]\n  algorithms:\n  - RS256\n  - HS256\n"
    assert refusal(tmp_path, text).startswith("F:7: issuers.0.algorithms.1: ")
    assert refusal(tmp_path, text.replace("  audience: x\n", "")).startswith("F:2: issuers.0.audience: it is required")


def test_two_issuers_cannot_be_taken_for_one_another(tmp_path: Path) -> None:
    """One name twice; one tenant's subjects named by two, unless a prefix keeps them apart."""
    other = {**GOOD, "issuer": "https://other.example"}
    assert "is there twice" in refusal(tmp_path, json.dumps({"issuers": [GOOD, GOOD]}))
    for one, another in (("", ""), ("", "corp:"), ("corp:", ""), ("corp:", "corp:eu:")):
        both = [{**GOOD, "subject_prefix": one}, {**other, "subject_prefix": another}]
        assert "give each of them a subject_prefix" in refusal(tmp_path, json.dumps({"issuers": both}))
    path = tmp_path / "issuers.yaml"
    apart = [{**GOOD, "subject_prefix": "corp:"}, {**other, "subject_prefix": "other|"}]
    path.write_text(json.dumps({"issuers": apart}), encoding="utf-8")
    assert len(read_issuers(path)) == 2


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "F:1: the file must hold `issuers:` and a list below it."),
        ("garbage", "F:1: the file must hold `issuers:` and a list below it."),
        ("issuers: []", "F:1: issuers: "),
        ("[]", "F:1: "),
        ("issuers: [", "F is not YAML: did not find expected node content, at line 2, column 1."),
        ("issuers: !!python/name:os.system []", "F is not YAML: "),
        ("issuers: []\nissuers: []", "F:2: issuers is there twice."),
        ("a: &a [1]\nissuers: *a", "F:1: an alias; write it out."),
        ("#" * 300_000, "F is larger than 262144 bytes."),
    ],
)
def test_what_is_no_such_file_is_one_sentence(tmp_path: Path, text: str, complaint: str) -> None:
    """Never a traceback."""
    assert refusal(tmp_path, text).startswith(complaint)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """One sentence, too; so are bytes that are no text."""
    with pytest.raises(IssuersError, match="cannot be read: No such file"):
        read_issuers(tmp_path / "missing.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(IssuersError, match="is not YAML"):
        read_issuers(tmp_path / "bytes.yaml")
