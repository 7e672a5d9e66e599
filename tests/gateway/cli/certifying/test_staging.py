"""The tool is pointed at the address given, and never at the operator's own by accident."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.cli.certifying.staging import origin_of, stage
from gateway.cli.exits import Failure
from tests.gateway.cli.certifying.bank import MANIFEST, READ
from tests.gateway.manifest.sample import REMOVED, changed

STAGING = "https://staging.bank.example/v2"


def staged(tmp_path: Path, *, against: str = STAGING, changes: dict[str, Any] | None = None, **more: Any) -> Any:
    """The bank's tool at an address."""
    (tmp_path / "act.yaml").write_text(json.dumps(changed(MANIFEST, changes)))
    (tmp_path / "list.yaml").write_text(json.dumps(READ))
    terms = {"names": ("BANK_URL",), "environ": {}, "secrets": {"T": "s"}, "production": False, **more}
    return stage(tmp_path, "act", against, **terms)


def test_the_tool_and_its_look_up_are_at_the_address(tmp_path: Path) -> None:
    """Its path included."""
    it = staged(tmp_path)

    assert it.tool.backend.origin == it.reader.backend.origin == "https://staging.bank.example:443"
    assert it.tool.backend.request.url.path == "/v2/acts"
    assert it.host_port == "staging.bank.example:443"


def test_where_the_gateway_sends_calls_is_refused_without_the_flag(tmp_path: Path) -> None:
    """By origin: another path or the default port is the same system."""
    environ = {"BANK_URL": "https://staging.bank.example:443/v1"}
    with pytest.raises(Failure, match="is what BANK_URL names, where the gateway itself sends calls"):
        staged(tmp_path, environ=environ)

    assert staged(tmp_path, environ=environ, production=True).tool.name == "act"


def test_another_name_of_the_manifests_keeps_its_value(tmp_path: Path) -> None:
    """Only what begins a URL is replaced; what is missing is said."""
    headers = {"backend.http.headers": {"X-Region": "${REGION}"}}
    names = ("BANK_URL", "REGION")
    it = staged(tmp_path, changes=headers, names=names, environ={"REGION": "eu"})

    assert it.tool.backend.request.headers[0].pieces == ("eu",)
    with pytest.raises(Failure, match="REGION is used by the manifests and is not in the environment"):
        staged(tmp_path, changes=headers, names=names)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"backend.http.url": "https://bank.example/acts"}, "act names https://bank.example:443 itself"),
        ({"backend.http.url": "https://staging.bank.example/acts"}, "has no other address than"),
        (
            {
                "backend": {"mcp": {"url": "${BANK_URL}/mcp", "tool": "act", "digest": f"sha256:{'0' * 64}"}},
                "downstream_key": {"in": "argument", "name": "idem", "window": "24h"},
            },
            "act is a tool of an MCP server",
        ),
        ({"owner": REMOVED}, "the manifests do not load: act.yaml:1:1"),
        ({"name": "acts"}, "there is no tool act; did you mean `acts`?"),
        (
            {
                "downstream_key": REMOVED,
                "reconcile": REMOVED,
                "unknown": {"owner": "ops", "runbook": "https://r.example"},
            },
            "claims neither a key nor a look-up; its unknown outcomes are settled by ops",
        ),
    ],
)
def test_what_cannot_be_certified_is_said(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    """In one sentence."""
    with pytest.raises(Failure) as failure:
        staged(tmp_path, changes=changes)

    assert words in str(failure.value)


def test_a_read_claims_nothing(tmp_path: Path) -> None:
    """There is no effect to count."""
    (tmp_path / "list.yaml").write_text(json.dumps(READ))
    with pytest.raises(Failure, match="is a read"):
        stage(tmp_path, "list", STAGING, names=("BANK_URL",), environ={}, secrets={}, production=False)


@pytest.mark.parametrize(
    "url", ["", "bank.example", "ftp://bank.example", "http://", "http://a@b", "http://a:x", "http://a?b"]
)
def test_what_is_no_address_is_said(url: str) -> None:
    """Before anything is loaded."""
    with pytest.raises(Failure, match="is no address"):
        origin_of(url)
