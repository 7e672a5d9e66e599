"""A breaker store on the far side of a network, as several gateways would see it. It can be slow, lossy or away."""

from dataclasses import dataclass, field, replace

from gateway.contract.codes import BreakerCount
from gateway.manifest.policies import BreakerPolicy
from gateway.stages.execute.breaker.breaker import Breaker, Kind, NotPermitted
from gateway.stages.execute.breaker.evidence import Evidence
from gateway.stages.execute.breaker.guard import Changed, Guard, Permit
from gateway.stages.execute.breaker.ports import BreakerStoreAway, Standing
from tests.waiting import turns

SCOPE = "payments"
POLICY = BreakerPolicy(scope=SCOPE, consecutive=2, min_calls=100, open_s=60.0)
LEASE_S = 20.0
FAILED = Evidence(count=BreakerCount.FAILURE, code="connect_failed")
WORKED = Evidence(count=BreakerCount.SUCCESS)


@dataclass(slots=True)
class Server:
    """What the replicas share: the states, the clock, and the weather between."""

    now: float = 1_000.0
    standings: dict[str, Standing] = field(default_factory=dict)
    away: bool = False
    loses_replies: bool = False
    """Commands arrive and are carried out; their answers do not come back."""
    trips: int = 0
    suspends: bool = True

    async def trip(self) -> None:
        """Go there, or fail to."""
        self.trips += 1
        if self.suspends:
            await turns()
        if self.away:
            raise BreakerStoreAway

    async def answer(self) -> None:
        """Come back, or fail to."""
        if self.suspends:
            await turns()
        if self.loses_replies:
            raise BreakerStoreAway


class Remote:
    """One replica's connection: a `BreakerStore` that remembers for `fresh_s` what it heard."""

    def __init__(self, server: Server, *, fresh_s: float = 1.0) -> None:
        self._server = server
        self._fresh_s = fresh_s
        self._heard: dict[str, tuple[float, Standing]] = {}

    def now(self) -> float:
        """Read the server's clock, kept in step."""
        return self._server.now

    def peek(self, scope: str) -> Standing | None:
        """Tell what was heard lately."""
        at, standing = self._heard.get(scope, (float("-inf"), None))
        return standing if self._server.now <= at + self._fresh_s else None

    async def load(self, scope: str) -> Standing:
        """Ask."""
        await self._server.trip()
        standing = self._server.standings.get(scope, Standing())
        await self._server.answer()
        return self._hear(scope, standing)

    async def swap(self, scope: str, expected: int, breaker: Breaker) -> Breaker:
        """Compare and set."""
        await self._server.trip()
        standing = self._server.standings.get(scope, Standing())
        if standing.breaker.generation == expected:
            self._server.standings[scope] = standing = replace(standing, breaker=breaker)
        await self._server.answer()
        return self._hear(scope, standing).breaker

    async def throttle(self, scope: str, until: float) -> None:
        """Keep the later time."""
        await self._server.trip()
        standing = self._server.standings.get(scope, Standing())
        self._server.standings[scope] = replace(standing, throttled_until=max(until, standing.throttled_until))
        await self._server.answer()

    def _hear(self, scope: str, standing: Standing) -> Standing:
        self._heard[scope] = (self._server.now, standing)
        return standing


class Replica:
    """A gateway process: its guard, asked and told about one dependency."""

    _replicas = 0

    def __init__(self, server: Server, *, changed: Changed | None = None) -> None:
        Replica._replicas += 1
        self._name = Replica._replicas
        self._tokens = 0
        self.guard = Guard(Remote(server), draw=lambda: 0.5, token=self._token, changed=changed)

    def _token(self) -> str:
        self._tokens += 1
        return f"{self._name}-{self._tokens}"

    async def ask(self, kind: Kind = Kind.SAFE) -> Permit | NotPermitted:
        """Ask for a permit."""
        return await self.guard.permit(SCOPE, POLICY, kind=kind, lease_s=LEASE_S)

    async def permitted(self, kind: Kind = Kind.SAFE) -> Permit:
        """Ask for a permit and get it."""
        answer = await self.ask(kind)
        assert isinstance(answer, Permit)
        return answer

    async def refused(self, kind: Kind = Kind.SAFE) -> NotPermitted:
        """Ask for a permit in vain."""
        answer = await self.ask(kind)
        assert isinstance(answer, NotPermitted)
        return answer

    async def call(self, evidence: Evidence) -> None:
        """Make a call that ends like this."""
        await self.guard.settle(await self.permitted(), POLICY, evidence)

    async def trip(self) -> None:
        """Fail until the breaker opens."""
        for _ in range(POLICY.consecutive):
            await self.call(FAILED)
