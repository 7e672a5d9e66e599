"""The OpenAPI document against the routes, the contract and its committed copy."""

import json
from pathlib import Path

from starlette.routing import Route

from gateway.contract.codes import FACTS, ErrorCode
from gateway.fronts.http.bodies import BodyLimits
from gateway.fronts.http.build import _routes
from gateway.fronts.http.calls import CallEndpoint
from gateway.fronts.http.openapi import document
from tests.gateway.fronts.http.fake_core import FakeCore, Keys
from tests.gateway.fronts.http.served import Served

COPY = Path(__file__).parents[4] / "docs" / "openapi.json"


def routes() -> list[Route]:
    """The routes as they are served."""
    core, limits = FakeCore(), BodyLimits(max_bytes=1, timeout_s=1)
    endpoint = CallEndpoint(core.call, core, Keys(), limits, failed=ErrorCode.GATEWAY_ERROR)
    return _routes(core, Keys(), limits, endpoint, endpoint)


def test_the_committed_copy_is_current() -> None:
    """`oncegate schema openapi > docs/openapi.json` has been run since the contract changed."""
    assert json.loads(COPY.read_text(encoding="utf-8")) == document()


def test_every_route_is_documented_with_its_methods() -> None:
    """Paths and methods of the document are those that are served, no more and no fewer."""
    served = {
        (route.path.replace(":path", ""), method.lower())
        for route in routes()
        for method in route.methods or ()
        if method != "HEAD"
    }
    written = {
        (path, method) for path, item in document()["paths"].items() for method in item if method in {"get", "post"}
    }

    assert written == served


def test_every_operation_has_its_own_name() -> None:
    """Generated clients make a method of each operationId."""
    names = [
        operation["operationId"]
        for item in document()["paths"].values()
        for method, operation in item.items()
        if method in {"get", "post"}
    ]

    assert len(names) == len(set(names)) == 19


def test_every_code_stands_under_its_status() -> None:
    """The responses name each code of the table once."""
    responses = document()["components"]["responses"]
    written = {(int(status), code) for status, it in responses.items() for code in it["description"].split(", ")}

    assert written == {(facts.status, code.value) for code, facts in FACTS.items()}


def test_every_reference_leads_somewhere() -> None:
    """No `$ref` of the document is broken."""
    text = json.dumps(document())
    targets = {part.split('"')[0] for part in text.split('"$ref": "#/components/')[1:]}
    components = document()["components"]

    assert targets
    assert [target for target in targets if target.split("/")[1] not in components[target.split("/")[0]]] == []


async def test_the_document_is_served(served: Served) -> None:
    """Anybody may read the contract."""
    answer = await served.client.get("/openapi.json", headers={"Authorization": ""})

    assert answer.json() == document()
