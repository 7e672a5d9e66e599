"""Callers with tokens, through the whole gateway."""

import logging
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from bench.nursery import forked
from gateway.demo.gateway_process import start_gateway
from gateway.demo.provider_process import ProviderProcess
from tests.gateway.adapters.oidc.issuer import LocalIssuer, ec_key, entry, real_now, write
from tests.gateway.pipeline.rig import plain
from tests.wire_codes.stand import PERMISSIONS, standing

SCOPE = " ".join(PERMISSIONS)
CLAIMS = {"tenant": "org", "permissions": "scope", "attributes": {"most": "most"}}
MANIFESTS = Path(__file__).parents[2] / "gateway" / "demo" / "manifests"


def settings(folder: Path, issuer: LocalIssuer, **changes: Any) -> dict[str, Any]:
    """A gateway that knows the issuer, for two tenants."""
    made = entry(issuer, **{"tenants": ["acme", "globex"], "claims": CLAIMS, **changes})
    return {"issuers": write(folder / "issuers.yaml", made)}


async def test_a_token_makes_a_call_under_its_rules(tmp_path: Path, issuer: LocalIssuer) -> None:
    """Its permissions open the tool, its attributes meet the rule, and the row is its subject's and tenant's."""
    rule = {"code": "over_limit", "require": "args.amount <= caller.attributes.most", "message": "Too much."}
    async with standing(tmp_path, plain({"rules": [rule]}), settings=settings(tmp_path, issuer)) as stand:

        def bearer(**claims: Any) -> str:
            return f"Bearer {issuer.token(now=real_now(), **{'org': 'globex', 'scope': SCOPE, 'most': 5, **claims})}"

        done = await stand.call("A", 5, authorization=bearer())
        over = await stand.call("B", 6, authorization=bearer())
        without = await stand.call("B", 5, authorization=bearer(scope="things:read"))
        stand.client.headers["authorization"] = bearer()
        rows = (await stand.get("/v1/executions")).envelope["data"]["executions"]

    assert done.envelope["ok"], done.envelope
    assert (over.code, without.code) == ("over_limit", "forbidden")
    assert {(row["tenant"], row["subject"]) for row in rows} == {("globex", "agent-7")}


async def test_every_refusal_is_an_envelope(tmp_path: Path, issuer: LocalIssuer) -> None:
    """On every route, with the reason; 401 has its challenge, 503 its time to come back."""
    async with standing(tmp_path, plain(), settings=settings(tmp_path, issuer, timeout="1s")) as stand:
        expired = f"Bearer {issuer.token(now=real_now() - 4000, org='acme')}"
        stand.client.headers["authorization"] = expired
        refused = [await stand.call(), await stand.get("/v1/tools"), await stand.post("/v1/operations/x/reconcile")]
        await issuer.stop()
        unknown = issuer.token(ec_key("new"), now=real_now(), org="acme")
        stand.client.headers["authorization"] = f"Bearer {unknown}"
        # Within `cooldown` of an answer the key is not published; an issuer that was never asked might have it.
        known = await stand.get("/v1/tools")

    assert {(it.status, it.code) for it in refused} == {(401, "unauthenticated")}
    assert all("it has expired" in it.envelope["error"]["message"] for it in refused)
    assert all(it.headers["www-authenticate"].startswith("Bearer") for it in refused)
    assert (known.status, known.code) == (401, "unauthenticated")


async def test_an_issuer_keeps_nobody_past_the_callers_deadline(tmp_path: Path, issuer: LocalIssuer) -> None:
    """The caller would wait a tenth of a second, the gateway half a minute."""
    issuer.manner = issuer.hang
    async with standing(tmp_path, plain(), settings=settings(tmp_path, issuer, timeout="30s")) as stand:
        token = f"Bearer {issuer.token(now=real_now(), org='acme')}"
        answer = await stand.call(authorization=token, x_request_timeout_ms="100")
        issuer.let_go.set()

    assert (answer.status, answer.code) == (503, "authentication_unavailable")
    assert stand.provider.sent == []


async def test_no_token_leaves_the_gateway(
    tmp_path: Path, issuer: LocalIssuer, caplog: pytest.LogCaptureFixture
) -> None:
    """Good, forged or garbage, with a planted secret in it: not in logs, spans, metrics, rows, answers or requests."""
    caplog.set_level(logging.DEBUG)
    exporter, planted = InMemorySpanExporter(), "planted-5f3759df"
    good = issuer.token(now=real_now(), org="acme", scope=SCOPE, note=planted)
    forged = issuer.token(ec_key("k1"), now=real_now(), org=planted)
    stranger = issuer.token(iss=f"https://{planted}.example")
    tokens = [good, forged, stranger, f"eyJ.{planted}.{planted}", planted]
    answers = []
    async with standing(tmp_path, plain(), settings=settings(tmp_path, issuer), spans=exporter) as stand:
        for token in tokens:
            answers.append(await stand.call("A", authorization=f"Bearer {token}"))
            answers.append(await stand.call("B", body={"wrong": 1}, authorization=f"Bearer {token}"))
        rows = await stand.get("/v1/executions")
        scrape = (await stand.client.get("/metrics")).text
        sent = str([(it.target, it.headers, it.body) for it in stand.provider.sent])
    seen = "\n".join(
        [
            caplog.text,
            *(span.to_json() for span in exporter.get_finished_spans()),
            scrape,
            str(rows.envelope),
            *(f"{it.headers}{it.envelope}" for it in answers),
            sent,
        ]
    )

    assert [it.status for it in answers] == [200, 400, 401, 401, 401, 401, 401, 401, 401, 401]
    assert len(exporter.get_finished_spans()) >= len(answers)
    for secret in (planted, *(part for token in tokens for part in token.split(".") if len(part) > 40)):
        assert secret not in seen


async def test_a_process_takes_tokens_and_a_changed_file(tmp_path: Path, issuer: LocalIssuer) -> None:
    """`--issuers` reaches the process; an issuer that is taken out of the file is one no more."""
    path = write(tmp_path / "issuers.yaml", entry(issuer, claims={"permissions": "scope"}))
    provider = await ProviderProcess.start(tmp_path, launch=forked)
    options = {"ONCEGATE_ISSUERS": str(path), "ONCEGATE_RELOAD_INTERVAL_S": "50ms"}
    gateway = await start_gateway(
        tmp_path, manifests=MANIFESTS, provider_url=provider.url, options=options, launch=forked
    )
    try:
        headers = {"authorization": f"Bearer {issuer.token(now=real_now(), scope='refunds:read')}"}
        async with httpx.AsyncClient(base_url=gateway.url, headers=headers, timeout=30) as client:
            tools = (await client.get("/v1/tools")).json()["data"]["tools"]
            write(path, {**entry(issuer), "issuer": "https://other.example"})
            while (await client.get("/v1/tools")).status_code == 200:
                pass
            refused = (await client.get("/v1/tools")).json()
    finally:
        await gateway.stop()
        await provider.stop()

    assert [tool["name"] for tool in tools] == ["get_refund_status"]
    assert "its issuer is none of this gateway's" in refused["error"]["message"]
