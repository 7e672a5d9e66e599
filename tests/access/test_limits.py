"""Limits through the HTTP front, on each kind of store and with two gateways on it."""

import asyncio
from pathlib import Path

import pytest

from gateway.adapters.redis.limits import RedisLimits
from gateway.adapters.redis.memory import Memory
from gateway.adapters.system.clock import SystemClock
from gateway.at_rest.sealing import Sealer
from gateway.contract.call import Caller
from gateway.manifest.policies import Rate, ToolLimits
from gateway.stages.execute.breaker.quotas import OperatorRates, quotas
from gateway.stages.execute.breaker.spending import Purse
from tests import redis_servers
from tests.gateway.adapters.redis.asking import client_of
from tests.gateway.pipeline.rig import plain
from tests.redis_fleets import clustered
from tests.wire_codes.stand import PERMISSIONS, new_key, standing

LIMITS = {"limits": {"rate": "2/h", "tenant_rate": "3/h"}, "cost": {"unit": "act", "per_call": 1, "per_run": 2}}
POLICY = '"tool-caller-per-h";q=2;w=3600, "tool-tenant-per-h";q=3;w=3600'


def seconds(header: str) -> list[int]:
    """The `t` of each item."""
    return [int(item.rpartition(";t=")[2]) for item in header.split(", ")]


async def test_headers_say_what_is_left(tmp_path: Path, store: str) -> None:
    """On every counted answer, and on the refusal with the same moment as Retry-After; on no other."""
    async with standing(tmp_path, plain(LIMITS), settings={"store": store}) as stand:
        run = {"run": {"id": "run-1"}}
        answers = [await stand.call(order, body=run) for order in "AB"]
        replay = await stand.call("A", body=run)
        refused = await stand.call("C", body=run)
        prepared = await stand.post("/v1/tools/act/prepare", b'{"arguments": {"order": "Z", "amount": 5}}')

    left = [answer.headers["ratelimit"].replace(";t=", " ").split(" ")[0] for answer in (*answers, refused)]
    assert left == ['"tool-caller-per-h";r=1', '"tool-caller-per-h";r=0', '"tool-caller-per-h";r=0']
    assert {answer.headers["ratelimit-policy"] for answer in (*answers, refused)} == {POLICY}
    assert (refused.status, refused.code) == (429, "rate_limited")
    assert seconds(refused.headers["ratelimit"])[0] == int(refused.headers["retry-after"])
    assert 1_700 < int(refused.headers["retry-after"]) <= 1_800
    assert replay.envelope["meta"]["replayed"]
    for uncounted in (replay, prepared):
        assert "ratelimit" not in uncounted.headers
        assert "ratelimit-policy" not in uncounted.headers


async def test_two_gateways_have_one_count(tmp_path: Path, store: str) -> None:
    """Whichever is asked: two calls of a run and of a caller, three of a tenant; and another tenant has its own."""
    people = {"a": ("acme", "a"), "b": ("acme", "b"), "c": ("globex", "a")}
    keys = {}
    for folder in (one_folder := tmp_path / "one", two_folder := tmp_path / "two"):
        folder.mkdir()
        for who, (tenant, subject) in people.items():
            keys[folder, who] = f"Bearer {new_key(folder, *PERMISSIONS, tenant=tenant, subject=subject)}"
    async with (
        standing(one_folder, plain(LIMITS), settings={"store": store}) as one,
        standing(two_folder, plain(LIMITS), settings={"store": store}) as two,
    ):

        async def ask(who: str, run: str, orders: str) -> list[str | None]:
            """One call at each."""
            said = []
            for stand, folder, order in zip((one, two), (one_folder, two_folder), orders, strict=True):
                body = {"run": {"id": run}}
                said.append((await stand.call(order, body=body, authorization=keys[folder, who])).code)
            return said

        assert await ask("a", "run-1", "AB") == [None, None]
        assert await ask("a", "run-2", "CD") == ["rate_limited"] * 2
        assert await ask("b", "run-1", "EF") == ["budget_exhausted"] * 2
        assert await ask("b", "run-2", "GH") == [None, "rate_limited"]
        assert await ask("c", "run-1", "AB") == [None, None]


async def test_calls_at_once_through_the_front(tmp_path: Path, store: str) -> None:
    """As many as the rate lets through are carried out, and the others are told when to come back."""
    limits = {"limits": {"rate": "5/h"}}
    async with standing(tmp_path, plain(limits), settings={"store": store}) as stand:
        answers = await asyncio.gather(*(stand.call(f"O{number}") for number in range(12)))
        acts = len(stand.provider.acts)

    assert sorted(str(answer.code) for answer in answers) == ["None"] * 5 + ["rate_limited"] * 7
    assert acts == 5
    assert all("retry-after" in answer.headers for answer in answers if answer.code)


@pytest.mark.slow
@pytest.mark.parametrize("kind", redis_servers.KINDS)
async def test_a_cluster_counts_tenants_apart_and_everybody_together(kind: str) -> None:
    """What one call takes may lie on two masters; what the second refuses is put back on the first."""
    redis_servers.need(kind)
    limits = ToolLimits(rate=(Rate(count=2, per_s=3600.0),), total_rate=(Rate(count=4, per_s=3600.0),))
    asked = {
        name: quotas("act", limits, OperatorRates(), Caller(subject="a", tenant=name)) for name in ("t1", "t2", "t3")
    }
    with clustered(kind) as fleet:
        client = client_of(fleet.url)
        Memory(client, Sealer())
        counted = RedisLimits(client, SystemClock())
        taken = [await counted.take(asked[name]) for name in ("t1", "t1", "t2", "t1", "t3", "t2")]
        spent = [
            await counted.reserve(Purse(tenant=name, run_id="r", unit="u"), str(number), 1, 2)
            for name in asked
            for number in range(3)
        ]
        client.close()

    assert [it.refused for it in taken] == [None, None, None, 0, None, 1]
    assert taken[5].tokens == pytest.approx((1.0, 0.0), abs=0.1)
    assert spent == [None, None, 2.0] * 3
