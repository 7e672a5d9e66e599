"""The whole gateway as a process: real provider, real store, real signals, real command line."""

import asyncio
import contextlib
import json
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import Result

from bench.nursery import forked
from gateway.adapters.files.keys import create_key
from gateway.demo.gateway_process import start_gateway
from gateway.demo.processes import Child, NotStartedError
from gateway.demo.provider_process import ProviderProcess
from tests.gateway.cli.interrupting import interrupt
from tests.gateway.cli.run import run
from tests.waiting import eventually

MANIFESTS = Path(__file__).parents[3] / "gateway" / "demo" / "manifests"
OPERATOR = ("operations:settle", "operator:breakers", "operator:breakers:force")
PERMISSIONS = ("refunds:write", "refunds:read", "orders:read", *OPERATOR)


@dataclass
class Whole:
    """A provider, and a gateway in front of it."""

    folder: Path
    provider: ProviderProcess
    key: str
    gateway: Child

    async def oncegate(self, *words: str) -> Result:
        """One client command."""
        environment = {"ONCEGATE_URL": self.gateway.url, "ONCEGATE_KEY": self.key}
        return await asyncio.to_thread(run, *words, environment=environment)

    async def refund(self, order: str, paise: int = 425000) -> httpx.Response:
        """One refund over HTTP."""
        body = {"arguments": {"order_id": order, "payment_id": "pay_1", "amount_paise": paise}}
        async with httpx.AsyncClient(base_url=self.gateway.url, timeout=30) as client:
            return await client.post(
                "/v1/tools/issue_refund/calls", json=body, headers={"Authorization": f"Bearer {self.key}"}
            )

    async def again(self, **options: str) -> None:
        """Another gateway process on the same store."""
        self.gateway = await start(self.folder, self.provider, **options)


async def start(folder: Path, provider: ProviderProcess, **options: str) -> Child:
    """A gateway process; its settings by their environment names."""
    named = {f"ONCEGATE_{name.upper()}": value for name, value in options.items()}
    return await start_gateway(folder, manifests=MANIFESTS, provider_url=provider.url, options=named, launch=forked)


@contextlib.asynccontextmanager
async def whole(folder: Path, **options: str) -> AsyncIterator[Whole]:
    """Both processes, stopped at the end."""
    provider = await ProviderProcess.start(folder, launch=forked)
    try:
        key, _ = create_key(
            folder / "keys.json", subject="agent", tenant="acme", permissions=PERMISSIONS, attributes={}
        )
        running = Whole(folder, provider, key, await start(folder, provider, **options))
        try:
            yield running
        finally:
            await running.gateway.stop()
    finally:
        await provider.stop()


async def test_a_refund_and_everything_that_can_be_asked_about_it(tmp_path: Path) -> None:
    """Called, called again, listed, shown, counted, and forgotten: one refund, and the record tells the same story."""
    words = ("issue_refund", "order_id=ORD-1", "payment_id=pay_1", "amount_paise:=425000")
    async with whole(tmp_path) as running:
        prepared = await running.oncegate("prepare", *words, "--json")
        first = await running.oncegate("call", *words, "--json")
        second = await running.oncegate("call", *words, "--json")
        conflicting = await running.oncegate("call", *words[:-1], "amount_paise:=1")
        listed = await running.oncegate("operations", "list", "--state", "done", "--json")
        operation_id = json.loads(first.stdout)["meta"]["operation_id"]
        shown = await running.oncegate("operations", "show", operation_id, "--json")
        reconciled = await running.oncegate("operations", "reconcile", operation_id, "--json")
        settled = await running.oncegate(
            "operations", "settle", operation_id, "--not-executed", "--evidence", "I would rather not"
        )
        rows = await running.oncegate("executions", "--json")
        signals = await running.oncegate("report", "issue_refund", "--json")
        store = f"sqlite:///{tmp_path}/store.sqlite"
        forgotten = await asyncio.to_thread(run, "operations", "forget", operation_id, "--yes", "--store", store)
        afterwards = await running.oncegate("call", *words, "--json")
        effects = await running.provider.effects()

    assert [first.exit_code, second.exit_code, conflicting.exit_code, settled.exit_code] == [0, 0, 1, 1], first.output
    assert json.loads(second.stdout)["data"] == json.loads(first.stdout)["data"]
    assert json.loads(second.stdout)["meta"]["replayed"] is True
    assert conflicting.stderr.startswith("error: idempotency_conflict")
    assert settled.stderr.startswith("error: invalid_settlement")
    operations = json.loads(listed.stdout)["data"]["operations"]
    assert [it["operation_id"] for it in operations] == [operation_id]
    assert operations[0]["operation_key"] == json.loads(prepared.stdout)["data"]["operation_key"]
    assert operations[0] == json.loads(reconciled.stdout)["data"]
    arguments = {"order_id": "ORD-1", "payment_id": "pay_1", "amount_paise": 425000}
    assert json.loads(shown.stdout)["data"] == {**operations[0], "arguments": arguments}
    assert [json.loads(line)["code"] for line in rows.stdout.splitlines()] == ["idempotency_conflict", None, None]
    (signalled,) = json.loads(signals.stdout)["data"]["tools"]
    assert signalled["outcomes"]["by_outcome"] == {"rejected": 1, "replayed": 1, "ok": 1}
    assert forgotten.exit_code == 0, forgotten.output
    assert (afterwards.exit_code, json.loads(afterwards.stdout)["error"]["code"]) == (5, "done_result_lost")
    assert effects == 1


async def test_a_write_that_outlasts_one_second_of_grace(tmp_path: Path) -> None:
    """SIGTERM cuts the caller off after the grace; the write is finished and recorded before the process exits with 0."""
    async with whole(tmp_path, drain_grace_s="1s") as running:
        await running.provider.script("ORD-1", {"hold": "effect"})
        answer = asyncio.create_task(running.refund("ORD-1"))
        await running.provider.event("received", "ORD-1")
        stopping = asyncio.create_task(running.gateway.stop())
        with pytest.raises(httpx.HTTPError):
            await answer
        await running.provider.release("ORD-1")
        code = await stopping
        await running.again()
        stored = await running.refund("ORD-1")
        effects = await running.provider.effects()

    assert code == 0
    assert (stored.status_code, stored.headers.get("idempotent-replayed")) == (200, "true"), stored.text
    assert effects == 1


async def test_an_unknown_is_settled_by_an_operator(tmp_path: Path) -> None:
    """The provider hangs up: exit code 4. With evidence an operator settles it, and the same call then says so."""
    words = ("issue_refund", "order_id=ORD-2", "payment_id=pay_1", "amount_paise:=425000")
    async with whole(tmp_path) as running:
        await running.provider.script("ORD-2", {"ending": "close", "effect": False})
        called = await running.oncegate("call", *words, "--json")
        operation_id = json.loads(called.stdout)["meta"]["operation_id"]
        doubtful = await running.oncegate("operations", "list", "--state", "unknown", "--json")
        words_of_operator = (
            "--executed",
            "--evidence",
            "dashboard of 14:02",
            "--result",
            '{"refund_id": "R", "status": "s", "amount_paise": 1}',
        )
        settled = await running.oncegate("operations", "settle", operation_id, *words_of_operator, "--json")
        again = await running.oncegate("call", *words, "--json")
        effects = await running.provider.effects()

    assert called.exit_code == 4, called.output
    assert [it["operation_id"] for it in json.loads(doubtful.stdout)["data"]["operations"]] == [operation_id]
    assert settled.exit_code == 0, settled.output
    assert (again.exit_code, json.loads(again.stdout)["data"]["refund_id"]) == (0, "R"), again.output
    assert effects == 0


async def test_an_interrupted_refund_is_made_and_made_once(tmp_path: Path) -> None:
    """Ctrl-C while the provider holds its answer: exit code 4, the refund is made, and the same call gets its result."""
    words = ("call", "issue_refund", "order_id=ORD-3", "payment_id=pay_1", "amount_paise:=425000", "--json")
    async with whole(tmp_path) as running:
        await running.provider.script("ORD-3", {"hold": "effect"})
        received = running.provider.event("received", "ORD-3")
        ended = await interrupt(*words, url=running.gateway.url, key=running.key, when=received)
        await running.provider.release("ORD-3")
        again = await running.oncegate(*words)
        effects = await running.provider.effects()

    assert ended.code == 4
    assert "It MAY have been carried out. Make the same call again" in ended.stderr
    assert (again.exit_code, json.loads(again.stdout)["ok"], effects) == (0, True, 1), again.output


async def test_a_revoked_key_stops_working(tmp_path: Path) -> None:
    """The gateway notices the changed file by itself."""
    async with whole(tmp_path, reload_interval_s="50ms") as running:
        before = await running.oncegate("tools")
        run("keys", "revoke", running.key.split("_")[1], "--keys", str(tmp_path / "keys.json"))
        async with asyncio.timeout(10):
            while (await running.oncegate("tools")).exit_code == 0:
                pass

    assert before.exit_code == 0


async def test_requests_are_counted_by_route(tmp_path: Path) -> None:
    """HTTP's own duration metric knows templates, never paths."""
    async with whole(tmp_path) as running:
        await running.oncegate("operations", "show", "01JNOTHERE")
        async with httpx.AsyncClient(base_url=running.gateway.url) as client:
            await client.get("/secret/path")
            scrape = (await client.get("/metrics")).text

    assert 'http_route="/v1/operations/{operation_id}"' in scrape
    assert "01JNOTHERE" not in scrape
    assert "secret" not in scrape


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"seal_key": "changeme"}, "ONCEGATE_SEAL_KEY cannot be used: anyone would guess this"),
        ({"lease_s": "soon"}, "ONCEGATE_LEASE_S cannot be used"),
        ({"manifest_env": "PAYMENTS_URL,NOT_THERE"}, "NOT_THERE"),
        ({"secrets_dir": "/nowhere/at/all"}, "/nowhere/at/all"),
    ],
)
async def test_what_cannot_be_used_stops_the_start(tmp_path: Path, options: dict[str, Any], complaint: str) -> None:
    """One sentence on standard error, no traceback, and no line that says that calls may come."""
    provider = await ProviderProcess.start(tmp_path, launch=forked)
    try:
        with pytest.raises(NotStartedError, match="error: ") as stopped:
            await start(tmp_path, provider, **options)
    finally:
        await provider.stop()

    assert complaint in str(stopped.value)
    assert "Traceback" not in str(stopped.value)


async def test_an_operators_word_on_a_breaker_is_heard_by_every_process(tmp_path: Path) -> None:
    """Kept open through one process, the other sends nothing and says why; taken back, calls go out again; unheard, it is none."""
    async with whole(tmp_path) as running:
        first, other = running.gateway, await start(tmp_path, running.provider)

        async def refusal() -> Any:
            """What a read at this process is refused with, if it is left alone."""
            told = json.loads((await running.oncegate("call", "lookup_order", "order_id=ORD-1", "--json")).stdout)
            return None if told["ok"] or told["error"]["code"] != "circuit_open" else told["error"]["message"]

        async def refused() -> bool:
            return await refusal() is not None

        async def free() -> bool:
            return await refusal() is None

        try:
            opened = await running.oncegate("breakers", "open", "payments", "--reason", "bank holiday", "--for", "2h")
            running.gateway = other
            await eventually(refused)
            message = await refusal()
            listed = await running.oncegate("breakers", "list", "--json")
            taken = await running.oncegate("breakers", "release", "payments")
            running.gateway = first
            await eventually(free)
            unknown = await running.oncegate("breakers", "release", "paymens")
            with sqlite3.connect(tmp_path / "store.sqlite-breakers") as elsewhere:
                elsewhere.execute("BEGIN EXCLUSIVE")
                unheard = await running.oncegate("breakers", "open", "payments", "--reason", "why", "--for", "1m")
                elsewhere.rollback()
        finally:
            running.gateway = first
            await other.stop()

    assert (opened.exit_code, taken.exit_code) == (0, 0), opened.output + taken.output
    assert "was switched off by an operator (bank holiday)" in message
    (standing,) = json.loads(listed.stdout)["data"]["breakers"]
    assert (standing["scope"], standing["state"], standing["forced"]["to"]) == ("payments", "open", "open")
    assert unknown.stderr.startswith("error: breaker_not_found")
    assert unheard.stderr.startswith("error: store_unavailable")
