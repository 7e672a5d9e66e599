"""The schemas against the values they describe."""

from dataclasses import fields, replace
from typing import Any

import pytest
from jsonschema_rs import validator_for

from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Meta, fail, succeed
from gateway.contract.execution import ExecutionRow, RowKind
from gateway.contract.requests import BreakerView, Readiness
from gateway.fronts.http.answers import Refusal
from gateway.fronts.http.head import Incoming
from gateway.fronts.http.openapi_schemas import schemas
from gateway.fronts.http.proposals import parse_call
from gateway.stages.monitor.headroom import Declared
from gateway.stages.monitor.signals import signals_of
from tests.gateway.fronts.http.fake_core import REFUND


def fits(name: str, document: Any) -> bool:
    """Whether a document is valid against a schema of ours."""
    whole = {"$ref": f"#/components/schemas/{name}", "components": {"schemas": schemas()}}
    return validator_for(whole).is_valid(document)


@pytest.mark.parametrize("code", list(ErrorCode))
def test_every_envelope_fits(code: ErrorCode) -> None:
    """Whatever the code, the envelope is as documented."""
    assert fits("Envelope", fail(code, Meta(request_id="r")).to_dict())


def test_a_result_fits() -> None:
    """So is an envelope with data."""
    assert fits("Envelope", succeed({"a": 1}, Meta(request_id="r", step=1, warnings=("w",))).to_dict())


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("Meta", set(Meta(request_id="r").to_dict())),
        ("Error", set(fail(ErrorCode.REJECTED, Meta(request_id="r")).to_dict()["error"])),
        ("Tool", set(REFUND.to_dict())),
        ("Breaker", set(BreakerView(scope="s", state="open").to_dict())),
        ("Readiness", set(Readiness(ready=True).to_dict())),
        ("ExecutionRow", {field.name for field in fields(ExecutionRow)}),
    ],
)
def test_every_member_is_documented(name: str, written: set[str]) -> None:
    """A field added to the contract must be added here."""
    assert set(schemas()[name]["properties"]) == written


def test_signals_are_as_documented() -> None:
    """Every member of every part, with and without numbers, and no member more."""
    row = ExecutionRow(row_id="r", kind=RowKind.CALL, at_wall=1.0, tenant="t", subject="s", tool="act", run_id="r")
    tried = replace(row, attempts=1, latency_ms=5.0, cost_unit="usd", cost=0.5)
    for rows in ([row], [row, tried] * 20):
        for declared in ({}, {"act": Declared(read_s=5.0, total_s=20.0)}):
            (signals,) = signals_of(rows, declared)
            told = signals.to_dict()
            data = {"tools": [told], "rows": 1, "rows_cap": 2000, "complete": True, "oldest_at": None}
            assert fits("Signals", data)
            assert all(set(shape["required"]) == set(told[part]) for part, shape in _parts().items())
    assert set(told["latency"]["headroom"]) == set(_parts()["latency"]["properties"]["headroom"]["required"])


def _parts() -> dict[str, Any]:
    return {name: part for name, part in schemas()["ToolSignals"]["properties"].items() if name != "tool"}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"arguments": {"a": 1}, "run": {"id": "r", "step": 0, "tokens": 5}, "expect": {"operation_key": "k"}},
        {"arguments": None, "run": None, "approval_id": None, "expect": None, "repeat_of": None},
        {"arguments": []},
        {"run": {"step": -1}},
        {"run": {"id": "a b"}},
        {"run": {"who": "me"}},
        {"repeat_of": ""},
        {"other": 1},
        {"expect": {"operation_key": 5}},
    ],
)
def test_the_schema_and_the_parser_agree(body: dict[str, Any]) -> None:
    """What the document says of a call's body is what the front does with it."""
    try:
        parse_call("t", body, Incoming("r", 0.0, {}))
    except Refusal:
        taken = False
    else:
        taken = True

    assert fits("CallRequest", body) is taken
