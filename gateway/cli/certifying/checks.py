"""The checks of a certification, in order. Each acts on the downstream and compares what comes with what was declared."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from gateway.cli.certifying.findings import Certificate, Finding, Verdict
from gateway.cli.certifying.orders import Order
from gateway.cli.certifying.probe import Look, Probe, Sent
from gateway.clock import Clock
from gateway.manifest.policies import Caches, DownstreamKey, Effect
from gateway.manifest.tool import Lookup
from gateway.stages.execute.attempt.outcome import Done, NotSent, Refused, Unknown
from gateway.stages.execute.operation.sighting import Identifier
from gateway.stages.normalise.payload import Readable, Unreadable

_FIRST_PAUSE_S: Final = 0.1
# So much of a key's window is waited before the last replay: it must come within it, not at its edge.
_OF_WINDOW: Final = 0.8


class _InterruptedError(Exception):
    """The rest cannot be checked."""

    def __init__(self, why: str, *, unknown: bool = False) -> None:
        super().__init__(why)
        self.unknown = unknown


@dataclass(slots=True)
class Certification:
    """One run. `fresh_key` gives an operation key that was never used; `clock` is what is waited on."""

    probe: Probe
    order: Order
    clock: Clock
    fresh_key: Callable[[], str]
    _findings: list[Finding] = field(default_factory=list)
    _before: frozenset[Identifier] = frozenset()

    async def run(self, against: str) -> Certificate:
        """Every check that the manifest's claims call for."""
        interrupted, unknown = None, False
        try:
            await self._checks()
        except _InterruptedError as end:
            interrupted, unknown = str(end), end.unknown
        tool = self.probe.tool
        return Certificate(
            tool=tool.name,
            manifest_digest=tool.digest,
            against=against,
            acts=self.probe.acts,
            findings=tuple(self._findings),
            interrupted=interrupted,
            unknown=unknown,
        )

    async def _checks(self) -> None:
        tool, key = self.probe.tool, self.fresh_key()
        lookup, contract = tool.reconcile.lookup, tool.downstream_key
        if lookup is not None:
            await self._silence(lookup, key)
        sent_at, wall = self.clock.monotonic(), self.clock.wall()
        first = await self._first(key)
        if lookup is not None:
            await self._found(lookup, key, wall)
        if contract is not None:
            await self._same_key(contract, key, wall, first)
            await self._other_body(contract, key, wall)
            await self._at_once(contract)
            await self._refusal_kept(contract)
            await self._window(contract, key, first, sent_at)
        elif tool.effect is Effect.IDEMPOTENT:
            await self._repeated(key)
        for status, meaning in sorted(tool.backend.statuses.items()):
            self._note(f"backend.http.statuses.{status}", meaning.value, "no such answer came", Verdict.UNCHECKED)

    async def _silence(self, lookup: Lookup, key: str) -> None:
        """Before anything is sent: a look-up for a key that was never used finds nothing, and that counts."""
        look = await self._look(lookup, key, self.clock.wall())
        if look.identifiers is not None:
            self._before = look.identifiers
            look = await self._look(lookup, key, self.clock.wall())
        says = "its silence counts"
        if look.why is not None:
            self._note("reconcile.lookup", says, f"before the first send {look.why}", Verdict.FALSE)
        elif look.matches:
            self._note("reconcile.lookup.match", "an unused key matches nothing", _count(look.matches), Verdict.FALSE)
        elif not look.complete:
            self._note("reconcile.lookup.complete_when", says, "the list is not said to be whole", Verdict.FALSE)
        elif lookup.baseline is not None and look.identifiers is None:
            self._note("reconcile.lookup.baseline", "each item has one", "an item has none", Verdict.FALSE)
        else:
            self._note("reconcile.lookup", says, "a whole answer without a match", Verdict.SHOWN)

    async def _first(self, key: str) -> Sent:
        first = await self.probe.act(self.order.arguments, key)
        self._must_be_done(first, "the first request")
        if self.probe.tool.result is not None:
            fits = isinstance(first.payload, Readable)
            seen = first.payload.detail if isinstance(first.payload, Unreadable) else f"{first.shown}, which fits"
            self._note("result", "the shape of an answer", seen, Verdict.SHOWN if fits else Verdict.FALSE)
        return first

    async def _found(self, lookup: Lookup, key: str, wall: float) -> None:
        """What was done is found, once, before a negative would count."""
        says = f"finds what was done within {lookup.settle_after_s:g}s"
        began, pause_s, last = self.clock.monotonic(), _FIRST_PAUSE_S, Look(why="it was not asked")
        while True:
            waited_s = self.clock.monotonic() - began
            last = await self._look(lookup, key, wall)
            if last.matches or waited_s >= lookup.settle_after_s:
                break
            await self.clock.sleep(min(pause_s, lookup.settle_after_s - waited_s))
            pause_s = min(pause_s * 2, lookup.confirm_every_s)
        if last.matches == 1:
            self._note("reconcile.lookup", says, "exactly one match", Verdict.SHOWN)
        else:
            seen = _count(last.matches) if last.why is None else last.why
            self._note("reconcile.lookup", says, seen, Verdict.FALSE)

    async def _same_key(self, contract: DownstreamKey, key: str, wall: float, first: Sent) -> None:
        again = await self.probe.act(self.order.arguments, key)
        self._must_be_answered(again, "the second request with the same key")
        self._compare("downstream_key", "the same key gives the same answer", first, again)
        if contract.replay_marker is not None:
            marked = again.replayed and not first.replayed
            name = contract.replay_marker[0]
            seen = f"{name} on the first answer: {_yes(first.replayed)}, on the second: {_yes(again.replayed)}"
            verdict = Verdict.SHOWN if marked else Verdict.FALSE
            self._note("downstream_key.replay_marker", "a stored answer carries it", seen, verdict)
        await self._one_effect("downstream_key", "the same key has one effect", key, wall)

    async def _other_body(self, contract: DownstreamKey, key: str, wall: float) -> None:
        says = f"the same key with another body is answered {contract.mismatch_status}"
        where = "downstream_key.mismatch_status"
        if self.order.other is None:
            self._note(where, says, "no other body is known; give one with --other", Verdict.UNCHECKED)
            return
        sent = await self.probe.act(self.order.other, key)
        self._must_be_answered(sent, "the same key with another body")
        agrees = sent.answer is not None and sent.answer.status == contract.mismatch_status
        self._note(where, says, sent.shown, Verdict.SHOWN if agrees else Verdict.FALSE)
        await self._one_effect(where, "and has no second effect", key, wall)

    async def _at_once(self, contract: DownstreamKey) -> None:
        """Two requests with one fresh key at the same moment."""
        await self._rebase()
        key, wall = self.fresh_key(), self.clock.wall()
        both = await asyncio.gather(*(self.probe.act(self.order.arguments, key) for _ in range(2)))
        says = f"while a request runs, another with its key is answered {contract.in_progress_status}"
        for sent in both:
            self._must_be_answered(sent, "two requests at once with one key")
        statuses = " and ".join(sent.shown for sent in both)
        where = "downstream_key.in_progress_status"
        done = [sent for sent in both if isinstance(sent.outcome, Done)]
        if len(done) == len(both):
            self._compare("downstream_key", "two at once with one key get the same answer", *both)
            self._note(where, says, f"{statuses}; one of them was too quick, or waited", Verdict.UNCHECKED)
        else:
            others = [sent.answer.status for sent in both if sent not in done and sent.answer is not None]
            agrees = len(done) == 1 and others == [contract.in_progress_status]
            self._note(where, says, statuses, Verdict.SHOWN if agrees else Verdict.FALSE)
        await self._one_effect("downstream_key", "two at once with one key have one effect", key, wall)

    async def _refusal_kept(self, contract: DownstreamKey) -> None:
        if contract.caches is not Caches.ALL:
            return
        says = "a refusal is kept under its key, too"
        where = "downstream_key.caches"
        if self.order.refused is None:
            self._note(where, says, "no refusal was provoked; give arguments for one with --refused", Verdict.UNCHECKED)
            return
        key = self.fresh_key()
        sent = await self.probe.act(self.order.refused, key)
        self._must_be_answered(sent, "what --refused asks for")
        if not isinstance(sent.outcome, Refused):
            self._note(where, says, f"--refused was answered {sent.shown}, which is no refusal", Verdict.UNCHECKED)
            return
        # Kept, the key belongs to that body; forgotten, it is free, and the good arguments are carried out.
        after = await self.probe.act(self.order.arguments, key)
        self._must_be_answered(after, "another body after a refusal")
        kept = after.answer is not None and after.answer.status == contract.mismatch_status
        seen = f"{sent.shown}, and then another body under its key: {after.shown}"
        self._note(where, says, seen, Verdict.SHOWN if kept else Verdict.FALSE)

    async def _window(self, contract: DownstreamKey, key: str, first: Sent, sent_at: float) -> None:
        says = f"a key is remembered for {contract.window_s:g}s"
        where = "downstream_key.window"
        if contract.window_s > self.order.patience_s:
            self._note(where, says, "it was not waited for; --patience says how long to", Verdict.UNCHECKED)
            return
        waited_s = contract.window_s * _OF_WINDOW
        await self.clock.sleep(max(0.0, sent_at + waited_s - self.clock.monotonic()))
        await self._rebase()
        late = await self.probe.act(self.order.arguments, key)
        self._must_be_answered(late, "a request late in the key's window")
        if new := await self._new_effects():
            self._note(where, says, f"{_count(new, 'more effect')} after {waited_s:g}s", Verdict.FALSE)
        else:
            self._compare(where, says, first, late)

    async def _repeated(self, key: str) -> None:
        """An idempotent tool may be sent twice, and the second answer is none of failure."""
        again = await self.probe.act(self.order.arguments, key)
        self._must_be_answered(again, "the second request")
        status = 0 if again.answer is None else again.answer.status
        agrees = isinstance(again.outcome, Done) or status in self.probe.tool.backend.already_done
        says = "done again it is done, or answered by `already_done`"
        self._note("effect", says, again.shown, Verdict.SHOWN if agrees else Verdict.FALSE)

    async def _rebase(self) -> None:
        lookup = self.probe.tool.reconcile.lookup
        if lookup is not None and lookup.baseline is not None:
            self._before = (await self._look(lookup, self.fresh_key(), self.clock.wall())).identifiers or self._before

    async def _new_effects(self) -> int:
        """Effects since the last look of `_rebase`, as far as the look-up tells one from another."""
        lookup = self.probe.tool.reconcile.lookup
        if lookup is None or lookup.baseline is None:
            return 0
        look = await self._look(lookup, self.fresh_key(), self.clock.wall())
        return 0 if look.identifiers is None else len(look.identifiers - self._before)

    async def _one_effect(self, where: str, says: str, key: str, wall: float) -> None:
        """Counted by the look-up, as often as a negative must be confirmed: an effect may come late."""
        lookup = self.probe.tool.reconcile.lookup
        if lookup is None:
            self._note(where, says, "effects cannot be counted without a look-up", Verdict.UNCHECKED)
            return
        effects, readable = 0, False
        for number in range(lookup.confirm):
            if number:
                await self.clock.sleep(lookup.confirm_every_s)
            look = await self._look(lookup, key, wall)
            readable |= look.why is None
            new = 0 if look.identifiers is None else len(look.identifiers - self._before)
            effects = max(effects, look.matches, new)
        if not readable:
            self._note(where, says, "the look-up could not be read", Verdict.UNCHECKED)
            return
        self._note(where, says, _count(effects, "effect"), Verdict.SHOWN if effects == 1 else Verdict.FALSE)

    async def _look(self, lookup: Lookup, key: str, wall: float) -> Look:
        return await self.probe.look(lookup, self.order.arguments, key, sent_wall=wall, baseline=self._before)

    def _compare(self, where: str, says: str, first: Sent, again: Sent) -> None:
        same = isinstance(again.outcome, Done) and _told(first) == _told(again)
        seen = f"{first.shown} and {again.shown}, " + ("with the same body" if same else "and they differ")
        self._note(where, says, seen, Verdict.SHOWN if same else Verdict.FALSE)

    def _must_be_done(self, sent: Sent, what: str) -> None:
        self._must_be_answered(sent, what)
        if isinstance(sent.outcome, Unknown):
            raise _InterruptedError(f"{what} was answered {sent.shown}, which proves nothing", unknown=True)
        if not isinstance(sent.outcome, Done):
            why = f"{what} was answered {sent.shown}: give arguments that the downstream carries out"
            raise _InterruptedError(why)

    def _must_be_answered(self, sent: Sent, what: str) -> None:
        if isinstance(sent.outcome, NotSent):
            raise _InterruptedError(f"{what} could not be sent ({sent.outcome.code})")
        if isinstance(sent.outcome, Unknown) and sent.answer is None:
            raise _InterruptedError(f"{what} got no answer ({sent.outcome.code}); it may have acted", unknown=True)

    def _note(self, where: str, says: str, seen: str, verdict: Verdict) -> None:
        self._findings.append(Finding(field=where, says=says, seen=seen, verdict=verdict))


def _told(sent: Sent) -> tuple[int, Any]:
    """What an answer says, whatever the order of its members."""
    assert sent.answer is not None  # noqa: S101 - only answered requests are compared
    value = sent.payload.value if isinstance(sent.payload, Readable) else sent.answer.body
    return sent.answer.status, value


def _count(number: int, what: str = "match") -> str:
    ending = "" if number == 1 else "es" if what.endswith("h") else "s"
    return f"{number} {what}{ending}"


def _yes(value: bool) -> str:  # noqa: FBT001 - a word for it
    return "yes" if value else "no"
