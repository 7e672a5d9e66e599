"""`make scenarios` plays every row on Valkey. Here are those that are about several gateways, on the older server."""

import pytest

from bench.scenarios.catalogue import SCENARIOS
from bench.scenarios.replicas import Replicas, Store
from bench.scenarios.run import Plan, run
from bench.scenarios.stage import Column
from bench.scenarios.table import row_text
from tests import redis_servers

pytestmark = pytest.mark.slow

SHARED = frozenset({"S2p", "S3", "S5", "S7"})


async def test_every_row_of_several_gateways_is_right() -> None:
    """With a plain write, a look-up and a key."""
    redis_servers.need("redis7")
    plan = Plan(
        new_target=lambda: Replicas(Store.REDIS, program=redis_servers.binary("redis7")),
        columns=(Column.PLAIN, Column.LOOKUP, Column.KEYED),
    )
    rows = [row async for row in run([it for it in SCENARIOS if it.id in SHARED], plan)]

    assert "\n".join(row_text(row) for row in rows if not row.passed) == ""
    assert all(finding for row in rows for finding in row.findings.values())
