"""Two tenants on one gateway and one store: whatever one has is as if it were not there for the other."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.gateway.pipeline.provider import cut
from tests.gateway.pipeline.rig import plain
from tests.wire_codes.stand import PERMISSIONS, Answer, Stand, new_key, standing


@dataclass
class Two:
    """One gateway, and the keys of the same subject in two tenants."""

    stand: Stand
    ours: str
    theirs: str

    async def get(self, who: str, path: str, **query: str) -> Answer:
        """GET as one of them."""
        self.stand.client.headers["authorization"] = who
        return await self.stand.get(path, **query)


@asynccontextmanager
async def two(folder: Path, store: str, *manifests: dict[str, Any]) -> AsyncIterator[Two]:
    """Both with every permission there is."""
    keys = [new_key(folder, *PERMISSIONS, tenant=tenant) for tenant in ("ours", "theirs")]
    async with standing(folder, *manifests, settings={"store": store}) as stand:
        yield Two(stand, *(f"Bearer {key}" for key in keys))


async def test_equal_calls_of_two_tenants_never_meet(tmp_path: Path, store: str) -> None:
    """Same subject, same arguments, same run, same Idempotency-Key: two operations with two keys, each with its replay."""
    async with two(tmp_path, store, plain()) as it:
        said: dict[str, Any] = {"body": {"run": {"id": "run-1"}}, "idempotency_key": "the-same"}
        first = [await it.stand.call(**said, authorization=who) for who in (it.ours, it.theirs)]
        again = [await it.stand.call(**said, authorization=who) for who in (it.ours, it.theirs)]
        listed = [(await it.get(who, "/v1/operations")).envelope["data"]["operations"] for who in (it.ours, it.theirs)]
        acts = len(it.stand.provider.acts)

    assert [answer.envelope["ok"] for answer in (*first, *again)] == [True] * 4
    assert [answer.envelope["meta"]["replayed"] for answer in (*first, *again)] == [False, False, True, True]
    assert [a.operation_id for a in first] == [a.operation_id for a in again]
    assert acts == 2
    assert [[op["operation_id"] for op in ops] for ops in listed] == [[a.operation_id] for a in first]
    assert listed[0][0]["operation_key"] != listed[1][0]["operation_key"]


async def test_other_arguments_of_another_tenant_are_no_conflict(tmp_path: Path, store: str) -> None:
    """Within a tenant they are."""
    async with two(tmp_path, store, plain()) as it:
        answers = [
            await it.stand.call("A", 5, authorization=it.ours),
            await it.stand.call("A", 6, authorization=it.theirs),
            await it.stand.call("A", 6, authorization=it.ours),
        ]

    assert [answer.code for answer in answers] == [None, None, "idempotency_conflict"]


async def test_a_callers_own_key_is_its_tenants(tmp_path: Path, store: str) -> None:
    """With `fields: caller`, too."""
    async with two(tmp_path, store, plain({"identity.fields": "caller"})) as it:
        answers = [
            await it.stand.call("A", idempotency_key="k", authorization=it.ours),
            await it.stand.call("B", idempotency_key="k", authorization=it.theirs),
            await it.stand.call("B", idempotency_key="k", authorization=it.ours),
        ]
        acts = len(it.stand.provider.acts)

    assert [answer.code for answer in answers] == [None, None, "idempotency_conflict"]
    assert acts == 2


async def test_an_unknown_outcome_holds_its_own_tenant_alone(tmp_path: Path, store: str) -> None:
    """What one tenant does not know stands in nobody else's way."""
    async with two(tmp_path, store, plain()) as it:
        it.stand.provider.writes.append(cut)
        unknown = await it.stand.call("A", 5, authorization=it.ours)
        blocked = await it.stand.call("A", 5, authorization=it.ours)
        free = await it.stand.call("A", 5, authorization=it.theirs)

    assert unknown.envelope["error"]["outcome"] == blocked.envelope["error"]["outcome"] == "unknown"
    assert free.envelope["ok"], free.envelope


async def test_another_tenants_operation_is_not_there(tmp_path: Path, store: str) -> None:
    """Looked at, looked up, reconciled, settled: word for word the answer for one that never was."""
    settlement = b'{"settled_as": "executed", "evidence": "I say so"}'
    async with two(tmp_path, store, plain()) as it:
        it.stand.provider.writes.append(cut)
        unknown = await it.stand.call("A", 5, body={"run": {"id": "run-1"}}, authorization=it.ours)
        (mine,) = (await it.get(it.ours, "/v1/operations", state="unknown")).envelope["data"]["operations"]
        told = {}
        for name in (unknown.operation_id, "01ARZ3NDEKTSV4RRFFQ69G5FAV"):
            path = f"/v1/operations/{name}"
            told[name] = [
                await it.get(it.theirs, path),
                await it.stand.post(f"{path}/reconcile", authorization=it.theirs),
                await it.stand.post(f"{path}/settle", settlement, authorization=it.theirs),
            ]
        queries: list[dict[str, str]] = [
            {},
            {"key": mine["operation_key"]},
            {"state": "unknown"},
            {"run_id": "run-1"},
            {"tool": "act"},
        ]
        found = [(await it.get(it.theirs, "/v1/operations", **query)).envelope["data"] for query in queries]
        rows = [
            (await it.get(it.theirs, "/v1/executions", **query)).envelope["data"] for query in ({}, {"run_id": "run-1"})
        ]
        signals = (await it.get(it.theirs, "/v1/signals")).envelope["data"]
        own = (await it.get(it.ours, "/v1/signals")).envelope["data"]
        still = await it.get(it.ours, f"/v1/operations/{unknown.operation_id}")

    seen, never = ([_essence(answer) for answer in answers] for answers in told.values())
    assert seen == never
    assert {status for status, _ in seen} == {404}
    assert found == [{"operations": []}] * len(queries)
    assert rows == [{"executions": []}] * 2
    assert (signals["tools"], signals["rows"], signals["oldest_at"]) == ([], 0, None)
    assert [told["tool"] for told in own["tools"]] == ["act"]
    assert still.envelope["data"]["state"] == mine["state"]


async def test_an_expectation_of_another_tenant_fits_nothing(tmp_path: Path, store: str) -> None:
    """Its operation key and its action hash are other ones."""
    async with two(tmp_path, store, plain()) as it:
        path, body = "/v1/tools/act/prepare", b'{"arguments": {"order": "A", "amount": 5}}'
        ours, theirs = [
            (await it.stand.post(path, body, authorization=who)).envelope["data"] for who in (it.ours, it.theirs)
        ]
        expect = {name: ours[name] for name in ("operation_key", "action_hash")}
        stale = await it.stand.call("A", 5, body={"expect": expect}, authorization=it.theirs)
        right = await it.stand.call("A", 5, body={"expect": expect}, authorization=it.ours)

    assert ours["operation_key"] != theirs["operation_key"]
    assert ours["action_hash"] != theirs["action_hash"]
    assert (stale.code, right.code) == ("intent_stale", None)


def _essence(answer: Answer) -> tuple[int, Any]:
    return answer.status, answer.envelope["error"]
