"""One operation and the world around it, for an exhaustive walk over the real record machine.

The world: gateways that crash anywhere, a provider that executes late or never, answers that get lost, leases that
run out, look-ups whose verdicts arrive late. Time is a set of facts (lease alive, send_by passed, settle_after over)
instead of numbers, so that the walk is finite: `now` is always 0, a moment in the future is 1, one in the past is -1.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final, NamedTuple

from gateway.contract.changed import changed
from gateway.stages.execute.operation import lookups, machine, replay
from gateway.stages.execute.operation.become import Settlement
from gateway.stages.execute.operation.claim import Claim, Sending
from gateway.stages.execute.operation.evidence import Evidence
from gateway.stages.execute.operation.record import OWNED, Origin, Record, State
from tests.gateway.stages.execute.operation.ways import Ways

NOW: Final = 0.0
FUTURE: Final = 1.0
PAST: Final = -1.0
OWNER: Final = "owner"
REPLAY: Final = replay.ReplayTerms(window_s=10.0, caches_all=True, send_within_s=1.0, horizon_s=0.0, background_s=None)
LOOK: Final = lookups.LookupTerms(settle_after_s=0.5, confirm=1, confirm_every_s=0.0)


class Hears(StrEnum):
    """Who listens at the gateway's end of an attempt."""

    MARKED = "m"
    """Somebody who has not written yet."""
    WAITING = "w"
    DEAF = "d"
    """Nobody any more."""


class Road(StrEnum):
    """How far a request has come."""

    UNWRITTEN = "n"
    FLYING = "f"
    EXECUTED = "x"
    REFUSED = "r"
    VANISHED = "v"


class Wire(NamedTuple):
    """One attempt outside the record. `answer`: what is on its way back. `may_write`: send_by has not passed."""

    hears: Hears = Hears.MARKED
    road: Road = Road.UNWRITTEN
    answer: str = ""
    may_write: bool = True
    closed: bool = False
    """Was flying when the record was closed: provider_max counts for it from there."""


class Look(NamedTuple):
    """A look-up under way: what it saw, and whether the record has kept still since."""

    matches: int
    fresh: bool


class World(NamedTuple):
    """A state of the walk. `owner`: a live process holds the claim. `key`: what the provider keeps under the key.

    `record` is one of the walk's `Ways`.
    """

    record: Record
    owner: bool
    wires: tuple[Wire, ...]
    effects: int
    overlap: bool
    window: str
    key: str
    looks: tuple[Look, ...]


@dataclass(frozen=True)
class Tool:
    """The class of tool that is walked, and which protections are left out (for the controls)."""

    keyed: bool
    lookup: bool
    attempts: int = 2
    without: str = ""


SETTLEMENT: Final = Settlement(by="attempt", wall=0.0)


def first(tool: Tool) -> World:
    """The world before anything happened: a FREE record."""
    origin = Origin(
        tenant="t", subject="s", operation="o", tool="o", tool_version="1", manifest_digest="d", effect="write",
        keyed=tool.keyed,
    )  # fmt: skip
    record = Record(
        key="k", identity_key="i", occurrence=1, operation_id="1", origin=origin, fingerprint="f", state=State.FREE
    )
    return World(record, owner=False, wires=(), effects=0, overlap=False, window="unused", key="", looks=())


def canonical(world: World) -> World:
    """Forget what no future decision reads, so that equal worlds are one."""
    record, owner, wires, *_ = world
    heard = tuple(map(_heard_of, wires))
    owned = owner and record.state in (State.CLAIMED, State.SENT)
    if owned is owner and heard == wires:
        return world
    return world._replace(owner=owned, wires=heard)


@cache
def _heard_of(wire: Wire) -> Wire:
    hears, road, answer, may_write, closed = wire
    if hears != Hears.MARKED:
        may_write = False
    if hears == Hears.DEAF:
        answer, road = "", road if road == Road.FLYING else Road.VANISHED
    elif hears == Hears.WAITING and not answer and road != Road.FLYING:
        road = Road.VANISHED
    return Wire(hears, road, answer, may_write, closed and road == Road.FLYING)


class Moves:
    """Every step that can happen in a world."""

    def __init__(self, tool: Tool, ways: Ways) -> None:
        self.tool = tool
        self._ways = ways

    def of(self, world: World) -> Iterator[tuple[str, World]]:
        """Yield (what happens, the world after it), canonical; it may be the same."""
        for label, after in self._all(world):
            yield label, canonical(after)

    def _all(self, world: World) -> Iterator[tuple[str, World]]:
        yield from self._calls(world)
        yield from self._owner(world)
        yield from self._time(world)
        for index in range(len(world.wires)):
            yield from self._gateway_side(world, index)
            yield from self._provider_side(world, index)
        if self.tool.keyed:
            yield from self._replay(world)
        if self.tool.lookup:
            yield from self._lookups(world)

    def _step(self, world: World, step: Callable[..., Record], *given: Hashable) -> World:
        """Take the record after a step: a look-up under way is now about an older one."""
        record, wrote = self._ways.after(world.record, step, *given)
        if not wrote:
            return world
        closed = record.state is State.UNKNOWN and world.record.state is not State.UNKNOWN
        wires = tuple(w._replace(closed=w.road == Road.FLYING) for w in world.wires) if closed else world.wires
        looks = world.looks
        if looks and self.tool.without != "version":
            looks = tuple(sorted(look._replace(fresh=False) for look in looks))
        return world._replace(record=record, wires=wires, looks=looks)

    def _facts(self, world: World, step: Callable[..., Record], *given: Hashable) -> World:
        """Only time has passed: nobody has written."""
        record, _ = self._ways.after(world.record, step, *given)
        return world._replace(record=record)

    def _calls(self, world: World) -> Iterator[tuple[str, World]]:
        record, room = world.record, len(world.wires) < self.tool.attempts
        # A refusal may have said that the key was used: it is then claimed again, under the same one.
        if (record.state is State.FREE or (record.state is State.REFUSED and self.tool.keyed)) and room:
            yield "a call claims", self._step(world, _claimed)._replace(owner=True)
        if record.state is State.CLAIMED and record.lease_is_dead(NOW) and room:
            yield "a call takes over", self._step(world, _taken_over)._replace(owner=True)

    def _owner(self, world: World) -> Iterator[tuple[str, World]]:
        record = world.record
        if not world.owner:
            return
        if record.state is State.CLAIMED:
            if not record.lease_is_dead(NOW) and len(world.wires) < self.tool.attempts:
                sent = self._step(world, _past_the_gate, self._one_effect(world))
                yield "the gate is passed", sent._replace(wires=(*world.wires, Wire()))
            yield "the owner gives up", self._step(world, _given_up)
        yield "the owner crashes", world._replace(owner=False)

    def _one_effect(self, world: World) -> bool:
        return self.tool.keyed and world.window != "over"

    def _time(self, world: World) -> Iterator[tuple[str, World]]:
        record = world.record
        if record.state in OWNED and not record.lease_is_dead(NOW):
            wires = world.wires
            if self.tool.without != "send_by":
                wires = tuple(w._replace(may_write=False) for w in wires)
            yield "the lease runs out", self._facts(world, _leased_no_more)._replace(wires=wires)
        dead = self._step(world, _seen_dead, self.tool.without == "lease")
        if dead is not world:
            yield "somebody sees the dead lease", dead
        if record.state is State.UNKNOWN and record.closed_at == NOW:
            wires = tuple(
                w._replace(road=Road.VANISHED) if w.road == Road.FLYING and w.closed else w for w in world.wires
            )
            yield "settle_after passes", self._facts(world, _long_closed)._replace(wires=wires)
        for index, wire in enumerate(world.wires):
            if (
                record.attempts[index].acts_until > NOW
                and wire.road != Road.FLYING
                and not (wire.hears == Hears.MARKED and wire.may_write)
            ):
                yield f"the provider's time for {index + 1} is over", self._facts(world, _over, index)
        if self.tool.keyed and world.window == "open":
            busy = any(w.road == Road.FLYING or (w.hears == Hears.MARKED and w.may_write) for w in world.wires)
            if world.wires[0].road != Road.FLYING and (self.tool.without == "margin" or not busy):
                yield "the provider forgets the key", world._replace(window="over", key="")

    def _gateway_side(self, world: World, index: int) -> Iterator[tuple[str, World]]:
        wire, number, record = world.wires[index], index + 1, world.record
        if wire.hears == Hears.MARKED:
            if wire.may_write:
                flying = any(w.road == Road.FLYING for w in world.wires)
                after = _wire(world, index, hears=Hears.WAITING, road=Road.FLYING)._replace(
                    overlap=world.overlap or flying
                )
                if self.tool.keyed and world.window == "unused":
                    after = after._replace(window="open")
                yield f"{number} is written", after
                yield f"send_by of {number} passes", _wire(world, index, may_write=False)
            yield (
                f"{number} ends not sent",
                self._learn(_wire(world, index, hears=Hears.DEAF), index, Evidence.NOT_SENT),
            )
            yield f"the gateway of {number} crashes unwritten", _wire(world, index, hears=Hears.DEAF)
        if wire.hears == Hears.WAITING:
            yield f"the gateway of {number} crashes", _wire(world, index, hears=Hears.DEAF)
            if world.owner and record.state is State.SENT and number == len(world.wires):
                yield "the caller is answered", self._step(world, _caller_answered)
            yield (
                f"contact with {number} is lost",
                self._learn(_wire(world, index, hears=Hears.DEAF), index, Evidence.LOST),
            )
            if wire.answer:
                yield f"{wire.answer} of {number} arrives", self._answer_arrives(world, index)

    def _answer_arrives(self, world: World, index: int) -> World:
        answer, record = world.wires[index].answer, world.record
        after = _wire(world, index, hears=Hears.DEAF, answer="")
        evidence = {"done": Evidence.DONE, "later": Evidence.REFUSED_RETRYABLE}.get(answer, Evidence.REFUSED)
        # Only what comes out of the key table carries the marker; a first refusal under the key does not.
        for_all = replay.is_authoritative(record, index + 1, 422, marked=answer == "kept", now=NOW)
        if self.tool.without == "marker" and answer == "refused" and index:
            for_all = True
        return self._learn(after, index, evidence, for_all=for_all)

    def _learn(self, world: World, index: int, evidence: Evidence, *, for_all: bool = False) -> World:
        return self._step(world, _learned, index, evidence, for_all, self.tool.without == "join")

    def _provider_side(self, world: World, index: int) -> Iterator[tuple[str, World]]:
        number = index + 1
        if world.wires[index].road != Road.FLYING:
            return
        yield f"{number} vanishes", _wire(world, index, road=Road.VANISHED)
        yield f"{number} is told to come later", _wire(world, index, road=Road.REFUSED, answer="later")
        yield f"{number} is refused before the key table", _wire(world, index, road=Road.REFUSED, answer="refused")
        if world.key:
            yield f"{number} gets the kept answer", _wire(world, index, road=Road.EXECUTED, answer=world.key)
            return
        keeps = self.tool.keyed and world.window != "over"
        executed = _wire(world, index, road=Road.EXECUTED, answer="done")._replace(effects=min(2, world.effects + 1))
        yield f"{number} is EXECUTED", executed._replace(key="done" if keeps else "")
        if keeps:
            yield (
                f"{number} is refused under the key",
                _wire(world, index, road=Road.REFUSED, answer="refused")._replace(key="kept"),
            )

    def _replay(self, world: World) -> Iterator[tuple[str, World]]:
        record = world.record
        if world.window == "over" or len(world.wires) >= self.tool.attempts:
            return
        if not record.attempts or replay.refusal(record, REPLAY, wall=0.0) is not None:
            return
        held = not world.owner or record.lease_is_dead(NOW) or world.wires[-1].hears != Hears.DEAF
        if record.state is State.SENT and held:
            # The owner sends again only after its running exchange has ended; nothing of that one can still leave.
            return
        sent = self._step(world, _past_the_replay_gate, self._one_effect(world))
        yield "a replay passes the gate", sent._replace(wires=(*world.wires, Wire()), owner=True)

    def _lookups(self, world: World) -> Iterator[tuple[str, World]]:
        record = world.record
        if len(world.looks) < 2 and world.wires and record.state in (State.LISTENING, State.UNKNOWN, State.FREE):
            early = self.tool.without == "settle_after"
            sight = lookups.Sight(matches=(), proves_absence=True, record=record, started_at=NOW, started_wall=FUTURE)
            counts = lookups.counts(sight, LOOK) or (early and record.state is State.UNKNOWN)
            if world.effects or counts:
                looks = tuple(sorted((*world.looks, Look(world.effects, fresh=True))))
                yield f"a look-up sees {world.effects}", world._replace(looks=looks)
        for position, look in enumerate(world.looks):
            rest = world._replace(looks=world.looks[:position] + world.looks[position + 1 :])
            found = (_found, look.matches) if look.matches else (_found_nothing, look.fresh)
            yield f"the verdict of {look.matches} is applied", self._step(rest, *found)


def violations(world: World) -> Iterator[str]:
    """What must never be seen."""
    state = world.record.state
    flying = any(w.road == Road.FLYING or (w.hears == Hears.MARKED and w.may_write) for w in world.wires)
    if world.effects > 1:
        yield "two effects"
    if state is State.DONE and not world.effects:
        yield "done without an effect"
    if state in (State.FREE, State.REFUSED) and world.effects:
        yield f"{state} though it happened"
    if state in (State.FREE, State.REFUSED) and flying:
        yield f"{state} though it may still happen"
    if state is State.FROZEN and not world.overlap:
        yield "frozen without two requests under way at once"
    if state is State.CLAIMED and world.record.unknown_attempts():
        yield "claimed beside an attempt of which nothing is known"


def _claim(record: Record) -> Claim:
    return Claim(
        owner=OWNER, lease_until=FUTURE, origin=record.origin, arguments={}, fingerprint="f", holds=record.holds
    )


def _sending(*, one_effect: bool) -> Sending:
    return Sending(send_by=FUTURE, horizon_s=0.0, wall=0.0, one_effect=one_effect, request=b"r")


def _claimed(record: Record) -> Record:
    return machine.claim(record, _claim(record))


def _taken_over(record: Record) -> Record:
    return machine.take_over(record, _claim(record), now=NOW)


def _past_the_gate(record: Record, one_effect: bool) -> Record:  # noqa: FBT001 - as a step is given it
    return machine.pass_gate(record, machine.own(record), _sending(one_effect=one_effect), now=NOW)


def _past_the_replay_gate(record: Record, one_effect: bool) -> Record:  # noqa: FBT001 - as a step is given it
    mine = machine.own(record) if record.state is State.SENT else None
    sending = _sending(one_effect=one_effect)
    return machine.pass_replay_gate(record, mine, sending, owner=OWNER, lease_until=FUTURE, now=NOW)


def _given_up(record: Record) -> Record:
    return machine.give_up(record, machine.own(record), now=NOW)


def _leased_no_more(record: Record) -> Record:
    return changed(record, lease_until=PAST)


def _seen_dead(record: Record, frees: bool) -> Record:  # noqa: FBT001 - as a step is given it
    dead = machine.see_dead_lease(record, now=NOW)
    freed = frees and dead is not record and record.state is not State.CLAIMED
    return changed(dead, state=State.FREE) if freed else dead


def _long_closed(record: Record) -> Record:
    return changed(record, closed_at=PAST)


def _over(record: Record, index: int) -> Record:
    attempts = list(record.attempts)
    attempts[index] = changed(attempts[index], acts_until=PAST)
    return changed(record, attempts=tuple(attempts))


def _caller_answered(record: Record) -> Record:
    return machine.answer_caller(record, machine.own(record))


def _learned(record: Record, index: int, evidence: Evidence, for_all: bool, frees: bool) -> Record:  # noqa: FBT001 - as a step is given them
    after = machine.learn(record, index + 1, evidence, SETTLEMENT, now=NOW, authoritative=for_all)
    left_sent = record.state is State.SENT and after.state is State.UNKNOWN
    return changed(after, state=State.FREE) if frees and left_sent and evidence is not Evidence.LOST else after


def _found(record: Record, matches: int) -> Record:
    attempts, fingerprint = len(record.attempts), record.fingerprint
    return machine.find(record, matches, SETTLEMENT, now=NOW, attempts=attempts, fingerprint=fingerprint)


def _found_nothing(record: Record, fresh: bool) -> Record:  # noqa: FBT001 - as a step is given it
    version = record.version if fresh else record.version - 1
    return machine.find_nothing(record, version=version, now=NOW, confirm=LOOK.confirm)


def _wire(world: World, index: int, **changes: object) -> World:
    wires = list(world.wires)
    wires[index] = wires[index]._replace(**changes)  # type: ignore[arg-type]  # NamedTuple fields of mixed types
    return world._replace(wires=tuple(wires))


def identity(world: World) -> Hashable:
    """What makes two canonical worlds of one walk the same."""
    return (id(world[0]), *world[1:])


@dataclass(frozen=True)
class Walk:
    """What an exhaustive walk found: how many worlds, and the shortest way to each kind of violation."""

    worlds: int
    violations: dict[str, str]


def walk(tool: Tool, *, at_most: int = 1_000_000) -> Walk:
    """Visit every reachable world, nearest first. A world with two effects is not followed any further.

    Raises:
        OverflowError: there are more than `at_most`.
    """
    ways = Ways()
    start = first(tool)
    start = start._replace(record=ways.one(start.record))
    came_from: dict[Hashable, tuple[Hashable, str] | None] = {identity(start): None}
    queue, moves, found = deque([start]), Moves(tool, ways), dict[str, str]()
    while queue:
        if len(came_from) > at_most:
            raise OverflowError(f"more than {at_most:,} worlds")
        world = queue.popleft()
        here = identity(world)
        for violation in violations(world):
            found.setdefault(violation, _trace(came_from, here))
        if world.effects > 1:
            continue
        for label, after in moves.of(world):
            there = identity(after)
            if there not in came_from:
                came_from[there] = (here, label)
                queue.append(after)
    return Walk(worlds=len(came_from), violations=found)


def _trace(came_from: dict[Hashable, tuple[Hashable, str] | None], end: Hashable) -> str:
    steps: list[str] = []
    step = came_from[end]
    while step is not None:
        end, label = step
        steps.append(label)
        step = came_from[end]
    return " | ".join(reversed(steps))
