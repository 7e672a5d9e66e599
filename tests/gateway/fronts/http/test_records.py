"""Operations, executions and breakers over HTTP."""

import json
from dataclasses import asdict

from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Meta, fail
from gateway.contract.requests import BreakerWord, ForceRequest, OperationQuery, SettledAs, SettleRequest, SignalQuery
from tests.gateway.fronts.http.fake_core import CALLER, OPERATOR, OPERATOR_TOKEN, ROW, FakeCore
from tests.gateway.fronts.http.served import Served, serving


async def test_an_operation_is_looked_up_for_its_caller(served: Served) -> None:
    """Identifier and caller reach the core; what it does not know is 404."""
    found = await served.client.get("/v1/operations/01JOP")
    missing = await served.client.get("/v1/operations/01JXX")

    assert found.json()["data"] == {"operation_id": "01JOP"}
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "operation_not_found")
    assert served.core.asked[0] == ("operation", "01JOP", CALLER)


async def test_what_cannot_be_an_identifier_is_not_looked_up(served: Served) -> None:
    """An identifier outside the alphabet is 404 without asking the store."""
    answer = await served.client.get("/v1/operations/a'b")

    assert answer.status_code == 404
    assert served.core.asked == []


async def test_operations_are_asked_for_by_condition(served: Served) -> None:
    """The query string is the core's question."""
    answer = await served.client.get("/v1/operations", params={"run_id": "run-7", "limit": "3"})

    assert answer.json()["data"] == {"operations": []}
    assert served.core.asked == [(OperationQuery(run_id="run-7", limit=3), CALLER)]


async def test_reconcile_needs_no_body(served: Served) -> None:
    """A POST without Content-Type looks now."""
    answer = await served.client.post("/v1/operations/01JOP/reconcile")

    assert answer.json()["data"] == {"operation_id": "01JOP"}
    assert served.core.asked == [("reconcile", "01JOP", CALLER)]


async def test_a_settlement_reaches_the_core(served: Served) -> None:
    """The operator's word arrives whole; a body of another type or shape does not."""
    word = {"settled_as": "not_executed", "evidence": "the provider's console shows none"}
    settled = await served.client.post("/v1/operations/01JOP/settle", json=word)
    typed = await served.client.post("/v1/operations/01JOP/settle", data=word)
    shaped = await served.client.post("/v1/operations/01JOP/settle", json={})

    request = SettleRequest(settled_as=SettledAs.NOT_EXECUTED, evidence="the provider's console shows none")
    assert (settled.status_code, typed.status_code, shaped.status_code) == (200, 415, 400)
    assert served.core.asked == [("01JOP", request, CALLER)]


async def test_rows_come_as_one_envelope_or_as_lines(served: Served) -> None:
    """JSON by default; one object a line for who accepts `application/x-ndjson`."""
    whole = await served.client.get("/v1/executions")
    lines = await served.client.get("/v1/executions", headers={"Accept": "text/html, application/x-ndjson;q=0.9"})

    assert whole.json()["data"] == {"executions": [asdict(ROW)]}
    assert lines.headers["content-type"] == "application/x-ndjson"
    assert [json.loads(line) for line in lines.text.splitlines()] == [asdict(ROW)]


async def test_signals_are_the_cores_answer(served: Served) -> None:
    """Query and caller reach the core, and its envelope comes back."""
    answer = await served.client.get("/v1/signals", params={"tool": "issue_refund"})

    assert (answer.status_code, answer.json()["data"]) == (200, {"tools": []})
    assert served.core.asked == [(SignalQuery(tool="issue_refund"), CALLER)]


async def test_a_word_on_a_breaker_reaches_the_core(served: Served) -> None:
    """It needs a permission of its own beside that to look; a scope may be an origin; an unknown one is 404."""
    word = {"state": "open", "reason": "bank holiday", "for_s": 60}
    mine = {"Authorization": f"Bearer {OPERATOR_TOKEN}"}
    refused = await served.client.post("/v1/breakers/payments", json=word)
    forced = await served.client.post("/v1/breakers/https://pay.example:443", json=word, headers=mine)
    missing = await served.client.post("/v1/breakers/nobodys", json={"state": "auto"}, headers=mine)
    shaped = await served.client.post("/v1/breakers/payments", json={}, headers=mine)
    typed = await served.client.post("/v1/breakers/payments", data=word, headers=mine)

    assert (refused.status_code, refused.json()["error"]["details"]) == (403, {"permission": "operator:breakers:force"})
    assert (forced.status_code, forced.json()["data"]["scope"]) == (200, "https://pay.example:443")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "breaker_not_found")
    assert (shaped.status_code, typed.status_code) == (400, 415)
    assert served.core.asked == [
        ("https://pay.example:443", ForceRequest(word=BreakerWord.OPEN, reason="bank holiday", for_s=60.0), OPERATOR),
        ("nobodys", ForceRequest(word=BreakerWord.AUTO), OPERATOR),
    ]


async def test_rows_that_cannot_be_read_are_an_envelope() -> None:
    """A store that is away is told as such, whatever form was asked for."""
    away = fail(ErrorCode.STORE_UNAVAILABLE, Meta(request_id=""))
    async with serving(FakeCore(rows=away)) as served:
        answer = await served.client.get("/v1/executions", headers={"Accept": "application/x-ndjson"})

    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "store_unavailable")
    assert answer.headers["retry-after"] == "5"
