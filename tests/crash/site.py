"""One store file, a gateway that runs on it all the time, and a chain of gateways that are killed one after another.

Each victim is also the second gateway process of the round before: it gets the calls again that its predecessor died
with, and then its own.
"""

import asyncio
import random
from collections.abc import Awaitable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from gateway.adapters.files.keys import create_key
from gateway.demo.provider_process import ProviderProcess
from tests.crash.book import AMOUNT_PAISE, Client, Operation, Tally, compare_rows, told
from tests.crash.fleet import Fleet, Gateway
from tests.crash.launcher import Errand
from tests.crash.points import PLAIN, TOOLS, Killer, Row
from tests.crash.trickle import Trickle

MANIFESTS: Final = Path(__file__).parent / "manifests"
PERMISSIONS: Final = ("refunds:write", "refunds:read", "operations:settle", "operations:read", "executions:read")
LEASE_S: Final = 0.6
SWEEP_S: Final = 0.1
NEVER_S: Final = 3600.0
PATIENCE_S: Final = 90.0
BESIDE_WITHIN_S: Final = 0.03
SIGKILL: Final = 9
HELD: Final = {
    Killer.EFFECT_HELD: {"hold": "effect"},
    Killer.TOLD_UNKNOWN: {"hold": "effect"},
    Killer.ANSWER_HELD: {"hold": "answer"},
}
# Acted on when it is let go, and never answered: what happened is left to the background to find out.
UNANSWERED: Final = {"hold": "effect", "ending": "close"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """The operations of one kill: those that come to the point, and others in flight beside them."""

    watched: tuple[Operation, ...] = ()
    beside: tuple[Operation, ...] = ()

    @property
    def every(self) -> tuple[Operation, ...]:
        """All of them."""
        return self.watched + self.beside


@dataclass(slots=True, kw_only=True)
class Site:
    """One lane of one row of the table.

    `sweeping`: the survivor looks after what the dead left behind, at once; otherwise that waits for the successor, and
    what the kill left can be seen before anybody has touched it.
    """

    row: Row
    sweeping: bool
    fleet: Fleet
    provider: ProviderProcess
    trickle: Trickle
    folder: Path
    orders: Iterator[int]
    tally: Tally
    without: str | None = None
    client: Client = field(init=False)
    survivor: Gateway = field(init=False)
    _names: int = 0
    _killed_at: float = 0.0
    _finishing: list["asyncio.Task[None]"] = field(default_factory=list)
    _rounds: list[Round] = field(default_factory=list)

    async def play(self, kills: int) -> None:
        """Kill so many gateways, one after the other; then see every operation to its end, and compare the books."""
        self.folder.mkdir()
        key, _ = create_key(
            self.folder / "keys.json", subject="agent", tenant="crash", permissions=PERMISSIONS, attributes={}
        )
        self.client = Client(key, self.tally)
        self.survivor = await self._start(Round(), sweep_s=SWEEP_S if self.sweeping else NEVER_S)
        upcoming = self._new_round()
        victim = await self._start(upcoming)
        killed = missed = 0
        while killed < kills and missed <= kills:
            current, upcoming = upcoming, self._new_round()
            hit = await self._kill(victim, current)
            killed, missed = killed + hit, missed + (not hit)
            victim = await self._start(upcoming)
            await self._call_again(victim, current, hit=hit)
        self.tally.kills += killed
        self.tally.misses += missed
        await asyncio.gather(*self._finishing)
        await self._audit()

    def _new_round(self) -> Round:
        def operation(tool: str) -> Operation:
            return Operation(order=f"ORD-{next(self.orders)}", tool=tool)

        return Round(
            watched=tuple(operation(tool) for tool in self.row.targets),
            beside=tuple(operation(tool) for tool in TOOLS),
        )

    async def _start(self, watching: Round, *, sweep_s: float = SWEEP_S) -> Gateway:
        self._names += 1
        trapped = self.row.killer is Killer.TRAP and bool(watching.watched)
        errand = Errand(
            name=f"{self.folder.name}-{self._names}",
            folder=str(self.folder),
            manifests=str(MANIFESTS),
            provider_url=self.trickle.url if self.row.killer is Killer.TRICKLE else self.provider.url,
            lease_s=LEASE_S,
            sweep_s=sweep_s,
            point=self.row.point.value if trapped else None,
            orders=tuple(each.order for each in watching.watched) if trapped else (),
            without=self.without,
        )
        return await self.fleet.start(errand)

    async def _kill(self, victim: Gateway, current: Round) -> bool:
        """Make the calls of a round, and see the victim die in their midst; False when it was not at the point."""
        self._rounds.append(current)
        self.tally.operations += len(current.every)
        script = UNANSWERED if self.row.background else HELD.get(self.row.killer)
        if script is not None:
            await asyncio.gather(*(self.provider.script(each.order, script) for each in current.watched))
        if self.row.killer is Killer.TRICKLE:
            for each in current.watched:
                self.trickle.cut(each.order)
        watched = [asyncio.create_task(self.client.call(victim, each)) for each in current.watched]
        beside = [asyncio.create_task(self._a_little_later(victim, each)) for each in current.beside]
        hit = await self._at_the_point(victim, current, watched)
        victim.kill()
        signal = await victim.ended
        self._killed_at = asyncio.get_running_loop().time()
        if signal != SIGKILL:
            self.tally.violations.append(f"a gateway ended by signal {signal}")
        await asyncio.gather(*watched, *beside)
        for each in current.watched:
            await self.provider.release(each.order)
        return hit and (self.sweeping or await self._inspect(current.watched))

    async def _a_little_later(self, victim: Gateway, operation: Operation) -> None:
        # Not to wait for anything: whatever stage each of these has reached, the kill must do no harm there.
        await asyncio.sleep(random.uniform(0, BESIDE_WITHIN_S))  # noqa: S311 - spreads, protects nothing
        await self.client.call(victim, operation)

    async def _at_the_point(
        self, victim: Gateway, current: Round, watched: Sequence["asyncio.Task[dict[str, Any] | None]"]
    ) -> bool:
        answered = asyncio.gather(*watched)
        match self.row.killer:
            case Killer.EFFECT_HELD:
                return await self._before(answered, self._events("received", current))
            case Killer.ANSWER_HELD:
                return await self._before(answered, self._events("effect", current))
            case Killer.TRICKLE:
                halves = asyncio.gather(*(self.trickle.cut(each.order).wait() for each in current.watched))
                return await self._before(answered, halves)
            case Killer.TOLD_UNKNOWN:
                return all(each is not None and told(each)[0] == "unknown" for each in await answered)
            case _ if self.row.background:
                await answered
                for each in current.watched:
                    await self.provider.release(each.order)
                await asyncio.wait({victim.ended}, timeout=PATIENCE_S)
                return victim.ended.done()
            case _:
                either: set[asyncio.Future[Any]] = {victim.ended, *watched}
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                if any(each.done() and each.result() is not None for each in watched):
                    # It can come to the point no more, and the others would wait there for it.
                    return False
                await asyncio.wait({victim.ended}, timeout=PATIENCE_S)
                return victim.ended.done()

    async def _events(self, what: str, current: Round) -> None:
        await asyncio.gather(*(self.provider.event(what, each.order) for each in current.watched))

    async def _before(self, answered: "asyncio.Future[Any]", point: Awaitable[object]) -> bool:
        """Whether the point came before the answers."""
        there: asyncio.Future[Any] = asyncio.ensure_future(point)
        await asyncio.wait({there, answered}, return_when=asyncio.FIRST_COMPLETED)
        if there.done():
            there.result()
            return not answered.done()
        there.cancel()
        return False

    async def _inspect(self, watched: Sequence[Operation]) -> bool:
        """Compare what the kill left behind with the table.

        False: a caller had waited so long that a look-up settled its operation, before it could come to the point.
        """
        for each in watched:
            records = await self.client.operations(self.survivor, run_id=each.order)
            state = records[0]["state"] if records else "absent"
            if state not in self.row.leaves and records and records[0]["settled_by"] == "lookup":
                return False
            if state not in self.row.leaves:
                self._wrong(each, f"left as {state}, not as {sorted(self.row.leaves)}")
            effects = len(await self.provider.refunds(each.order))
            if effects not in self.row.effects:
                self._wrong(each, f"{effects} effects after the kill, not {sorted(self.row.effects)}")
        return True

    async def _call_again(self, victim: Gateway, current: Round, *, hit: bool) -> None:
        """The same calls again, to the next gateway and to the one that ran all the time, at once.

        What the table says of persons is asked of a kill at the point: off it, an operation may have been given up for
        unknown because its service answered too late.
        """
        gateways = (victim, self.survivor)
        answers = await asyncio.gather(
            *(self.client.call(gateway, each) for each in current.every for gateway in gateways)
        )
        self.tally.violations += ["a living gateway gave no answer" for answer in answers if answer is None]
        self._finishing += [
            asyncio.create_task(self._finish(each, watched=hit and each in current.watched)) for each in current.every
        ]

    async def _finish(self, operation: Operation, *, watched: bool) -> None:
        """Ask until it is done; where only a person can know, be that person.

        Patience counts from the last kill: each one may have been in the midst of finding out.
        """
        envelope: dict[str, Any] | None = None
        while asyncio.get_running_loop().time() < self._killed_at + PATIENCE_S:
            envelope = await self.client.call(self.survivor, operation)
            if envelope is not None and envelope["ok"]:
                return
            if envelope is not None and operation.tool == PLAIN and told(envelope)[0] == "unknown":
                await self._be_the_person(operation, envelope, watched=watched)
            # A gateway in another process settles it; a client can only ask again, until PATIENCE_S is over.
            await asyncio.sleep(SWEEP_S)
        self._wrong(operation, f"never came to an end; the last answer was {envelope}")

    async def _be_the_person(self, operation: Operation, envelope: dict[str, Any], *, watched: bool) -> None:
        operation_id = envelope["meta"]["operation_id"]
        if envelope["error"]["code"] == "idempotency_in_progress":
            return
        listed = await self.client.operations(self.survivor, state="unknown")
        found = next((each for each in listed if each["operation_id"] == operation_id), None)
        if found is None:
            # Somebody may have learned of it since the client was told.
            [record] = await self.client.operations(self.survivor, run_id=operation.order)
            if record["state"] not in {"done", "free"}:
                self._wrong(operation, f"told unknown, and in no list of unknown operations: {record}")
            return
        if found["listening"]:
            return
        if watched and not self.row.person:
            self._wrong(operation, "needed a person where the table says none")
        effects = await self.provider.refunds(operation.order)
        result = {"refund_id": effects[0], "status": "settled", "amount_paise": AMOUNT_PAISE} if effects else None
        status = await self.client.settle(self.survivor, operation_id, executed=bool(effects), result=result)
        self.tally.by_hand += 1
        if status != 200:
            self._wrong(operation, f"a person's word was answered with HTTP {status}")

    async def _audit(self) -> None:
        for operation in (each for rounds in self._rounds for each in rounds.every):
            effects = await self.provider.refunds(operation.order)
            if len(effects) != 1:
                self._wrong(operation, f"{len(effects)} effects in the end")
            records = await self.client.operations(self.survivor, run_id=operation.order)
            if [each["state"] for each in records] != ["done"]:
                self._wrong(operation, f"left behind as {records}")
            delivered = [each for each in self.client.delivered if each.operation == operation]
            for each in delivered:
                if each.envelope["ok"] and [each.envelope["data"]["refund_id"]] != effects:
                    self._wrong(operation, f"was told of {each.envelope['data']}, the ledger has {effects}")
            rows = await self.client.rows(self.survivor, operation.order)
            self.tally.violations += compare_rows(delivered, rows)

    def _wrong(self, operation: Operation, sentence: str) -> None:
        self.tally.violations.append(f"{operation.tool} {operation.order}: {sentence}")
