"""Two gateways on one store: processes on one SQLite file, or on one Redis."""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from bench.scenarios.oncegate import OnceGate
from bench.scenarios.target import Call, Setting, Told
from gateway.demo.gateway_process import COMMAND
from gateway.demo.redis_process import RedisProcess

REPLICAS = 2


class Store(StrEnum):
    """What the gateways share."""

    SQLITE = "sqlite"
    REDIS = "redis"


class Replicas(OnceGate):
    """Where a scenario means no gateway in particular, they take the calls in turn.

    A Redis is a server of its own, in the folder of the setting, and dies with this process.
    """

    def __init__(
        self, store: Store = Store.SQLITE, *, command: Sequence[str] = COMMAND, program: str | None = None
    ) -> None:
        super().__init__(command=command)
        self._kind = store
        self._program = program
        self._server: RedisProcess | None = None
        self._in_turn = False
        self._calls = 0

    async def start(self, setting: Setting) -> None:
        """Start the server, if there is to be one, and the gateways."""
        self._in_turn = setting.processes == 1
        if self._kind is Store.REDIS:
            self._server = await RedisProcess.start(setting.folder, program=self._program)
            self._store = self._server.url
        await super().start(replace(setting, processes=max(REPLICAS, setting.processes)))

    async def call(self, call: Call, *, process: int = 0) -> Told:
        """Make one call, at the gateway whose turn it is if the scenario names none."""
        if self._in_turn:
            process = self._calls % REPLICAS
            self._calls += 1
        return await super().call(call, process=process)

    async def stop(self) -> None:
        """End everything."""
        await super().stop()
        if self._server is not None:
            await self._server.stop()
