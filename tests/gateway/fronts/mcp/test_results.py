import json

import jsonschema_rs
import pytest

from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Meta, fail, succeed
from gateway.fronts.http.formats import ENVELOPE_SCHEMA
from gateway.fronts.mcp.results import called, discovered, initialized, listed
from gateway.fronts.mcp.versions import SUPPORTED, Version

DONE = succeed({"refund_id": "R1", "said": 'a "quoted"\nline'}, Meta(request_id="r", replayed=True))
UNKNOWN = fail(ErrorCode.TIMEOUT_UNKNOWN_OUTCOME, Meta(request_id="r"), details={"after_s": 5})


@pytest.mark.parametrize("version", SUPPORTED)
@pytest.mark.parametrize("envelope", [DONE, UNKNOWN])
def test_an_envelope_is_told_twice(version: Version, envelope: object) -> None:
    """As structure and, because many clients show a model nothing else, as text; and an error is said to be one."""
    assert envelope in (DONE, UNKNOWN)
    whole = DONE if envelope is DONE else UNKNOWN
    result = json.loads(called(whole, version))

    assert result["structuredContent"] == whole.to_dict()
    assert [part["type"] for part in result["content"]] == ["text"]
    assert json.loads(result["content"][0]["text"]) == whole.to_dict()
    assert result["isError"] is not whole.ok


@pytest.mark.parametrize("envelope", [DONE, UNKNOWN])
def test_what_is_told_is_what_was_promised(envelope: object) -> None:
    """The output schema of every tool fits every envelope: a client that checks finds nothing."""
    whole = DONE if envelope is DONE else UNKNOWN

    assert jsonschema_rs.is_valid(dict(ENVELOPE_SCHEMA), json.loads(json.dumps(whole.to_dict())))


def test_only_2026_has_a_type_of_result() -> None:
    """And says who answered."""
    modern, legacy = json.loads(called(DONE, Version.V2026_07_28)), json.loads(called(DONE, Version.V2025_11_25))

    assert modern["resultType"] == "complete"
    assert modern["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "oncegate"
    assert legacy.keys() == {"content", "structuredContent", "isError"}


def test_a_list_of_2026_says_how_long_it_holds_and_for_whom() -> None:
    """For this caller alone: what is listed depends on the credential."""
    page = listed({"tools": []}, Version.V2026_07_28)

    assert (page["resultType"], page["cacheScope"]) == ("complete", "private")
    assert page["ttlMs"] > 0
    assert listed({"tools": []}, Version.V2025_06_18) == {"tools": []}


def test_discovery() -> None:
    """Revisions, tools and nothing else, and what a model should know."""
    found = discovered()

    assert found["supportedVersions"] == list(SUPPORTED)
    assert found["capabilities"] == {"tools": {}}
    assert "not carried out twice" in found["instructions"]
    assert (found["cacheScope"], found["ttlMs"] > 0) == ("private", True)


def test_initialization() -> None:
    """The same for older clients, with the revision that was agreed on."""
    agreed = initialized("2025-06-18")

    assert agreed["protocolVersion"] == "2025-06-18"
    assert (agreed["capabilities"], agreed["serverInfo"]["name"]) == ({"tools": {}}, "oncegate")
