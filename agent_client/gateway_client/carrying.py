"""Carry out one action outside a loop: prepare it, hold every send to what was prepared, repeat only what is safe.

`carry_out` is a generator that does no I/O: it yields what to do next and is sent what came of it. `Errand` is it as
the asynchronous and the blocking client drive it: they ask and sleep, and decide nothing.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from agent_client.backoff import full_jitter
from agent_client.gateway_client.asking import Ask, ask_tool
from agent_client.gateway_client.reading import NotAnEnvelope
from agent_client.gateway_client.sends import Sends
from agent_client.ports import Chance, GatewayUnreachable
from agent_client.wire import CallRequest, read_prepared
from gateway.contract.codes import CallOutcome, ErrorCode
from gateway.contract.envelope import Envelope, Meta, fail

_PROXY_BUSY: Final = frozenset({429, 502, 503, 504})
"""Answers of something between that may be gone a moment later."""
_READ: Final = "read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long and how often one action is tried.

    Attributes:
        sends: of the same request, the first included.
        within_s: from the beginning; a wait that would end later is not begun.
        base_s: the bound of the first wait; each further bound is twice the one before. Each wait is drawn between
            0 and its bound, and is never shorter than what an answer asked for.
        cap_s: the largest bound.
    """

    sends: int = 4
    within_s: float = 60.0
    base_s: float = 0.5
    cap_s: float = 8.0

    def __post_init__(self) -> None:
        if self.sends < 1:
            raise ValueError("at least one send")


DEFAULT_PATIENCE: Final = Patience()


@dataclass(frozen=True, slots=True)
class DoPrepare:
    """Send this to `/prepare`."""

    request: CallRequest

    def ask(self) -> Ask:
        """As it goes out. Raises ValueError where the request cannot be written."""
        return ask_tool("prepare", self.request)


@dataclass(frozen=True, slots=True)
class DoCall:
    """Send this to `/calls`."""

    request: CallRequest

    def ask(self) -> Ask:
        """As it goes out. Raises ValueError where the request cannot be written."""
        return ask_tool("calls", self.request)


@dataclass(frozen=True, slots=True)
class DoWait:
    """Wait: a time drawn from 0 to `bound_s`, but not shorter than `at_least_s`. It is sent back whether time allowed it."""

    at_least_s: float
    bound_s: float


Move = DoPrepare | DoCall | DoWait
Ended = Envelope | GatewayUnreachable
Carrying = Generator[Move, Ended | bool, Envelope]


class Errand:
    """One action on its way. A driver does what `first` and then each `after` says, until that is an envelope.

    Args:
        began: when the action began, in seconds of a monotonic clock.
    """

    def __init__(self, request: CallRequest, patience: Patience, *, chance: Chance, began: float) -> None:
        self._moves = carry_out(request, patience)
        self._chance = chance
        self._until = began + patience.within_s

    @classmethod
    def to(
        cls, tool: str, arguments: Mapping[str, Any], patience: Patience, *, chance: Chance, began: float, **more: Any
    ) -> Self:
        """An errand to `tool`, under a request id of its own. `more`: the other fields of `CallRequest`."""
        named = {"request_id": f"req_{chance.hex(24)}", **more}
        return cls(CallRequest(tool=tool, arguments=arguments, **named), patience, chance=chance, began=began)

    def first(self) -> Move | Envelope:
        """What to do first."""
        return self._next(None)

    def after(self, came: Ended | bool) -> Move | Envelope:  # noqa: FBT001 - what came of a move
        """What to do once the last move brought this; for a wait, whether it was made."""
        return self._next(came)

    def pause(self, wait: DoWait, *, now: float) -> float | None:
        """How many seconds to sleep; None: the wait would end too late, and is not begun."""
        pause_s = full_jitter(wait.bound_s, self._chance.draw(), at_least_s=wait.at_least_s)
        return pause_s if now + pause_s <= self._until else None

    def _next(self, came: Ended | bool | None) -> Move | Envelope:  # noqa: FBT001 - as above
        try:
            return next(self._moves) if came is None else self._moves.send(came)
        except StopIteration as over:
            envelope: Envelope = over.value
            return envelope


def carry_out(request: CallRequest, patience: Patience) -> Carrying:
    """The moves that carry `request` out. Returns an envelope always: the gateway's, or one that says what is unknown.

    A lost answer to a call that may change something is told as an unknown outcome, never as a failure.
    """
    prepared = yield from _prepare(request, patience)
    if isinstance(prepared, Envelope):
        return prepared
    pinned, changes = prepared
    # Held to its operation, or changing nothing, a call whose answer was lost can be made again as it is.
    held = not changes or pinned.expect is not None or pinned.idempotency_key is not None
    sends = Sends(unproved=pinned.attempt - 1, epoch=None if pinned.expect is None else pinned.expect.store_epoch)
    ended: Ended | None = None
    doubt: GatewayUnreachable | None = None
    for number in range(patience.sends):
        if number and not (yield _wait(ended, number, patience)):
            break
        ended = _ended((yield DoCall(_told(pinned, sends))))
        sends = sends.after(ended)
        if isinstance(ended, GatewayUnreachable) and not ended.never_sent:
            doubt = ended
        if not _again(ended, held=held):
            break
    assert ended is not None  # noqa: S101 - patience.sends is at least 1
    if changes and doubt is not None and not _speaks_for_all(ended):
        # A refusal of the last send alone must not hide that an earlier one is still unproved.
        return lost(request, doubt, changes=True)
    return ended if isinstance(ended, Envelope) else lost(request, ended, changes=changes)


def lost(request: CallRequest, silence: GatewayUnreachable, *, changes: bool) -> Envelope:
    """The envelope of an answer that did not come. `changes`: the call may have changed something.

    It has no `meta.request_id` of a gateway's but the caller's own, and `error.details.told_by` is `agent_client`.
    """
    if silence.never_sent:
        code, rest = ErrorCode.CONNECT_FAILED, "Nothing was carried out. It is safe to make the same call again."
    elif changes:
        code = ErrorCode.OUTCOME_UNKNOWN
        rest = "The action MAY have been carried out. Do not call it another way; look the operation up first."
    else:
        code, rest = ErrorCode.UNAVAILABLE, "Nothing was changed. Make the same call again later."
    meta = Meta(
        request_id=request.request_id,
        tool=request.tool,
        run_id=request.run_id,
        step=request.step,
        idempotency_key=request.idempotency_key,
        store_epoch=None if request.expect is None else request.expect.store_epoch,
    )
    message = f"{str(silence)[:1].upper()}{str(silence)[1:]}. {rest}"
    return fail(code, meta, message=message, details={"told_by": "agent_client"})


def _prepare(
    request: CallRequest, patience: Patience
) -> Generator[Move, Ended | bool, Envelope | tuple[CallRequest, bool]]:
    ended: Ended | None = None
    for number in range(patience.sends):
        if number and not (yield _wait(ended, number, patience)):
            break
        ended = _ended((yield DoPrepare(request)))
        if isinstance(ended, Envelope) and ended.ok:
            try:
                prepared = read_prepared(ended.data)
            except ValueError:
                ended = NotAnEnvelope("the answer of prepare is not that of the contract", status=200)
                break
            if request.expect is None and prepared.intent is not None:
                request = replace(request, expect=prepared.intent)
            return request, prepared.effect != _READ
        if not _again(ended, held=True):
            break
    assert ended is not None  # noqa: S101 - patience.sends is at least 1
    # `prepare` executes nothing, so whatever became of it, nothing was changed.
    return ended if isinstance(ended, Envelope) else lost(request, ended, changes=False)


def _told(request: CallRequest, sends: Sends) -> CallRequest:
    expect = request.expect
    if expect is not None and sends.epoch is not None:
        expect = replace(expect, store_epoch=sends.epoch)
    return replace(request, attempt=sends.attempt, expect=expect)


def _again(ended: Ended, *, held: bool) -> bool:
    """Whether the same request may be sent again: the contract says so, or nothing of it arrived, or `held`."""
    if isinstance(ended, Envelope):
        return ended.error is not None and ended.error.retryable
    if isinstance(ended, NotAnEnvelope) and ended.status not in _PROXY_BUSY:
        return False
    return ended.never_sent or held


def _speaks_for_all(ended: Ended) -> bool:
    """Whether this is an envelope about the operation, and not about its last send alone."""
    if not isinstance(ended, Envelope):
        return False
    return ended.error is None or ended.error.outcome is not CallOutcome.NOT_EXECUTED or ended.meta.recorded


def _wait(ended: Ended | None, number: int, patience: Patience) -> DoWait:
    asked: float | None = None
    if isinstance(ended, Envelope) and ended.error is not None:
        asked = ended.error.retry_after_s
    elif isinstance(ended, NotAnEnvelope):
        asked = ended.retry_after_s
    bound = min(patience.base_s * 2 ** (number - 1), patience.cap_s)
    return DoWait(at_least_s=asked or 0.0, bound_s=bound)


def _ended(sent: Ended | bool) -> Ended:  # noqa: FBT001 - what a generator is sent has no name
    assert not isinstance(sent, bool)  # noqa: S101 - what the driver sends back fits the move
    return sent
