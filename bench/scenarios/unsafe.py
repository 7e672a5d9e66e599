"""OnceGate with one protection taken out, so that a reader sees the scenarios bite.

`python -m bench.scenarios.unsafe NAME serve …` is the gateway with one of its parts replaced, in its own process.
The product has no switch for this; each function here exchanges the part that carries the protection.
"""

import struct
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bench.scenarios.replicas import Replicas, Store
from gateway.adapters.http_tool import kernel
from gateway.adapters.redis.breakers import RedisBreakers
from gateway.adapters.sqlite.breakers import SqliteBreakers
from gateway.contract.envelope import Envelope
from gateway.manifest import arguments, lookups
from gateway.manifest.templates import RenderedRequest
from gateway.manifest.tool import Lookup
from gateway.pipeline import claiming, inbox, reconciling, sending, writes
from gateway.pipeline.ruling import EXECUTION
from gateway.pipeline.visit import Visit
from gateway.stages.execute.attempt.classify import classify
from gateway.stages.execute.attempt.exchange import Exchange, Fault
from gateway.stages.execute.attempt.outcome import NotSent, Outcome
from gateway.stages.execute.breaker import guard
from gateway.stages.execute.breaker.breaker import Breaker, NotPermitted, Permitted, Refusal
from gateway.stages.execute.breaker.ports import BreakerStoreAway
from gateway.stages.execute.operation.meeting import Meeting
from gateway.stages.execute.operation.record import Record, State
from gateway.stages.execute.operation.table import TRANSITIONS, Cell, Event

BROKEN = frozenset({Fault.DISCONNECTED, Fault.RESET, Fault.MALFORMED})


def put(owner: Any, name: str, part: Any) -> None:
    """Exchange one part; a part that has moved is an error, or the control would show nothing."""
    if not hasattr(owner, name):
        raise AttributeError(f"{owner!r} has no {name} any more: the control must follow it")
    setattr(owner, name, part)


def look_up_trusted_at_once() -> None:
    """The first look-up that finds nothing is believed, whenever it is asked."""

    def lenient(**fields: Any) -> Lookup:
        return Lookup(**{**fields, "settle_after_s": 0.0, "confirm": 1, "confirm_every_s": 0.0})

    put(lookups, "Lookup", lenient)


def look_up_without_baseline() -> None:
    """Whatever in the list looks like ours is ours: nobody looked before the first send."""

    async def blank(*_: Any, **__: Any) -> tuple[()]:
        return ()

    put(reconciling.Looker, "baseline", blank)


def lease_expiry_frees() -> None:
    """An owner whose lease is dead has done nothing: the next caller may."""
    row: Mapping[Event, Cell] = TRANSITIONS[State.SENT]
    assert isinstance(row, dict)
    row[Event.OWNER_DIED] = Cell(State.FREE)


def classified_by_exception() -> None:
    """A connection error is a connection error: nothing was delivered, try again."""

    def by_class(exchange: Exchange, *given: Any, **more: Any) -> Outcome:
        if exchange.fault in BROKEN and exchange.answer is None:
            return NotSent(code="connect_failed", retryable=True)
        return classify(exchange, *given, **more)

    put(sending, "classify", by_class)


def key_from_raw_arguments() -> None:
    """Identity is what the caller typed."""
    put(arguments, "normalise", lambda text, _names: text)


def rules_before_the_record() -> None:
    """Whether a call may be carried out is asked before whether it was."""
    look = writes.Writes.look

    async def judged_first(self: writes.Writes, visit: Visit) -> Meeting | Envelope:
        return await visit.ruling.refusal(visit.intention.tool, EXECUTION) or await look(self, visit)

    put(writes.Writes, "look", judged_first)


def no_hold() -> None:
    """An operation in doubt holds nothing."""
    put(Record, "standing_holds", lambda _record: ())


def half_open_for_all() -> None:
    """While one call asks whether the provider is back, everybody else asks, too."""
    asked: Callable[..., Permitted | NotPermitted] = vars(guard)["permit"]

    def generous(breaker: Breaker, *given: Any, **more: Any) -> Permitted | NotPermitted:
        answer = asked(breaker, *given, **more)
        if isinstance(answer, NotPermitted) and answer.reason is Refusal.PROBING:
            return Permitted(breaker=breaker)
        return answer

    put(guard, "permit", generous)


def breaker_of_its_own() -> None:
    """A process knows of the provider what it has seen itself."""

    async def nobody(*_: Any) -> Any:
        raise BreakerStoreAway

    for store in (RedisBreakers, SqliteBreakers):
        put(store, "load", nobody)
        put(store, "swap", nobody)


def no_linger() -> None:
    """The kernel goes on sending what a dead process has written."""
    put(kernel, "_RESET_ON_CLOSE", struct.pack("ii", 0, 0))


def approval_for_any_amount() -> None:
    """An approval is for the operation, whatever its arguments and its request."""

    def of_operation(_self: claiming.Claims, _visit: Visit, key: str, _rendered: RenderedRequest) -> str:
        return key

    put(claiming.Claims, "action_hash", of_operation)


def anybody_approves() -> None:
    """Who decides is nobody's business."""
    put(inbox, "bar", lambda *_, **__: None)


PROTECTIONS: Mapping[str, Callable[[], None]] = {
    "look-up-trusted-at-once": look_up_trusted_at_once,
    "look-up-without-baseline": look_up_without_baseline,
    "lease-expiry-frees": lease_expiry_frees,
    "classified-by-exception": classified_by_exception,
    "key-from-raw-arguments": key_from_raw_arguments,
    "rules-before-the-record": rules_before_the_record,
    "approval-for-any-amount": approval_for_any_amount,
    "anybody-approves": anybody_approves,
    "no-hold": no_hold,
    "half-open-for-all": half_open_for_all,
    "breaker-of-its-own": breaker_of_its_own,
    "no-linger": no_linger,
}


@dataclass(frozen=True, slots=True)
class Without:
    """Makes gateways that lack one protection."""

    protection: str
    store: Store = Store.SQLITE

    @property
    def command(self) -> tuple[str, ...]:
        """What starts it; `serve` and its flags follow."""
        return (sys.executable, "-m", "bench.scenarios.unsafe", self.protection)

    def __call__(self) -> Replicas:
        """Two of them, not started yet."""
        return Replicas(self.store, command=self.command)


if __name__ == "__main__":
    from gateway.cli import main

    PROTECTIONS[sys.argv.pop(1)]()
    main()
