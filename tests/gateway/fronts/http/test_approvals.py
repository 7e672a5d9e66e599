"""Approvals over HTTP."""

from typing import Any

import pytest

from gateway.contract.requests import ApprovalQuery, DecisionRequest
from tests.gateway.fronts.http.fake_core import CALLER
from tests.gateway.fronts.http.served import Served


async def test_an_approval_is_looked_up_for_its_caller(served: Served) -> None:
    """Identifier and caller reach the core; what it does not know is 404."""
    found = await served.client.get("/v1/approvals/01JAP")
    missing = await served.client.get("/v1/approvals/01JXX")

    assert found.json()["data"] == {"approval_id": "01JAP"}
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "approval_not_found")
    assert served.core.asked[0] == ("approval", "01JAP", CALLER)


@pytest.mark.parametrize("name", ["a'b", "a.b", "x" * 65])
async def test_what_cannot_be_an_identifier_is_not_looked_up(served: Served, name: str) -> None:
    """It is 404 without asking the store, also for a decision."""
    read = await served.client.get(f"/v1/approvals/{name}")
    word = await served.client.post(f"/v1/approvals/{name}/decision", json={"decision": "approve"})

    assert (read.status_code, word.status_code) == (404, 404)
    assert served.core.asked == []


async def test_approvals_are_asked_for_by_condition(served: Served) -> None:
    """The query string is the core's question; a parameter that is not known is refused."""
    answer = await served.client.get(
        "/v1/approvals", params={"state": "pending", "run_id": "r", "tool": "t", "limit": "3"}
    )
    odd = await served.client.get("/v1/approvals", params={"subject": "x"})

    assert answer.json()["data"] == {"approvals": []}
    assert odd.status_code == 400
    query = ApprovalQuery(statuses=frozenset({"pending"}), run_id="r", tool="t", limit=3)
    assert served.core.asked == [(query, CALLER)]


async def test_a_decision_reaches_the_core(served: Served) -> None:
    """Yes or no, and a note."""
    path = "/v1/approvals/01JAP/decision"
    yes = await served.client.post(path, json={"decision": "approve", "note": " seen "})
    no = await served.client.post(path, json={"decision": "deny"})

    assert (yes.status_code, no.status_code) == (200, 200)
    assert served.core.asked == [
        ("01JAP", DecisionRequest(approve=True, note="seen"), CALLER),
        ("01JAP", DecisionRequest(approve=False), CALLER),
    ]


@pytest.mark.parametrize(
    "body",
    [
        {"decision": "approve", "arguments": {"amount": 9}},
        {"decision": "approve", "action_hash": "x"},
        {"decision": "approve", "operation": {}},
        {"decision": "yes"},
        {"decision": True},
        {"decision": ["approve"]},
        {},
        {"note": "x"},
        {"decision": "approve", "note": ""},
        {"decision": "approve", "note": 5},
        {"decision": "approve", "note": "x" * 1001},
    ],
)
async def test_scenario_25_a_decision_is_a_word_and_nothing_of_the_action(served: Served, body: dict[str, Any]) -> None:
    """A body that brings an action along, or a word that is neither, is refused whole."""
    answer = await served.client.post("/v1/approvals/01JAP/decision", json=body)

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_request")
    assert served.core.asked == []


async def test_a_decision_is_json(served: Served) -> None:
    """A form, as a foreign page could post it, is refused."""
    answer = await served.client.post("/v1/approvals/01JAP/decision", data={"decision": "approve"})

    assert answer.status_code == 415
    assert served.core.asked == []


async def test_nobody_decides_without_a_key(served: Served) -> None:
    """Each route is behind its own door."""
    bare = {"Authorization": ""}
    answers = [
        await served.client.get("/v1/approvals", headers=bare),
        await served.client.get("/v1/approvals/01JAP", headers=bare),
        await served.client.post("/v1/approvals/01JAP/decision", json={"decision": "approve"}, headers=bare),
    ]

    assert [answer.status_code for answer in answers] == [401, 401, 401]
    assert served.core.asked == []
