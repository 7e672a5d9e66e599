"""The scenarios with their records on a server, and two gateways that take the calls in turn."""

from dataclasses import replace

import pytest

from bench.scenarios.catalogue import SCENARIOS
from bench.scenarios.oncegate import OnceGate
from bench.scenarios.run import Plan, run
from bench.scenarios.stage import Column
from bench.scenarios.table import row_text
from bench.scenarios.target import Call, Setting, Told
from tests import redis_servers

pytestmark = pytest.mark.slow


class TwoOnRedis(OnceGate):
    """Two gateways on a server of their own. Where a scenario means no gateway in particular, they take turns."""

    def __init__(self, kind: str) -> None:
        self._server = redis_servers.start(kind, redis_servers.free_port())
        super().__init__(store=self._server.url)
        self._in_turn = False
        self._calls = 0

    async def start(self, setting: Setting) -> None:
        """Start both."""
        self._in_turn = setting.processes == 1
        await super().start(replace(setting, processes=2))

    async def call(self, call: Call, *, process: int = 0) -> Told:
        """Make one call, at the gateway whose turn it is."""
        self._calls += 1
        return await super().call(call, process=(self._calls - 1) % 2 if self._in_turn else process)

    async def stop(self) -> None:
        """End everything."""
        await super().stop()
        self._server.close()


_SHARED = frozenset({"S2p", "S3", "S5"})


@pytest.mark.parametrize(("kind", "names"), [("valkey", frozenset(it.id for it in SCENARIOS)), ("redis7", _SHARED)])
async def test_every_row_is_right_on_two_gateways(kind: str, names: frozenset[str]) -> None:
    """Every row, with a plain write, a look-up and a key, is as right as on one file; on the older server, those that
    are about several gateways.
    """
    redis_servers.need(kind)
    plan = Plan(new_target=lambda: TwoOnRedis(kind), columns=(Column.PLAIN, Column.LOOKUP, Column.KEYED))
    rows = [row async for row in run([it for it in SCENARIOS if it.id in names], plan)]

    assert "\n".join(row_text(row) for row in rows if not row.passed) == ""
