"""Breaker and throttle before an attempt: what opens them, what they let through, what they are told."""

import asyncio
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from gateway.contract.codes import CallOutcome, ErrorCode
from gateway.contract.envelope import Envelope
from gateway.stages.execute.operation.record import State
from gateway.stages.monitor.attributes import BREAKER_STATE
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import act, answer, cut, late, listing, silence, when
from tests.gateway.pipeline.rig import Rig, keyed, looked_up, plain, read
from tests.gateway.pipeline.watched import Spans
from tests.waiting import eventually

QUICK_BREAKER = {"breaker": {"consecutive": 2, "open": "1h", "window": "1h"}, "retry.max_attempts": 1}
# What a write in doubt is looked up for would close the breaker.
NO_LOOK = {"reconcile.inline": "0ms"}


def code_of(envelope: Envelope) -> ErrorCode | None:
    """Its error code."""
    return None if envelope.error is None else envelope.error.code


async def break_it(gateway: Rig, failures: int = 2) -> None:
    """Let the dependency fail this often."""
    gateway.provider.writes += [answer(500)] * failures
    for number in range(failures):
        await gateway.call(f"BROKEN{number}")


async def due(gateway: Rig) -> None:
    """Wait until every breaker lets a probe through, by its own word."""
    await eventually(lambda: all(not view.retry_after_s for view in gateway.pipeline.breakers()))


async def test_an_open_breaker_sends_nothing(rig: MakeRig) -> None:
    """`breaker.consecutive` failures open it; the refusal has a wait, makes no record and is the caller's to act on."""
    gateway = await rig(plain(QUICK_BREAKER))
    await break_it(gateway)
    envelope = await gateway.call()
    assert code_of(envelope) == ErrorCode.CIRCUIT_OPEN
    assert envelope.error is not None
    assert envelope.error.outcome is CallOutcome.NOT_EXECUTED
    assert envelope.error.retry_after_s is not None
    assert 0 < envelope.error.retry_after_s <= 3_600 * 1.2
    assert len(gateway.provider.sent) == 2
    assert [r.bodies.arguments["order"] for r in await gateway.records() if r.state is not State.FREE] == [
        "BROKEN0",
        "BROKEN1",
    ]
    (view,) = gateway.pipeline.breakers()
    assert (view.state, view.failures) == ("open", 2)


async def test_tools_of_one_scope_share_the_breaker(rig: MakeRig) -> None:
    """`breaker.scope` says what fails as one; another scope is not affected."""
    shared = {**QUICK_BREAKER["breaker"], "scope": "payments"}  # type: ignore[dict-item]
    alone = {**shared, "scope": "mail"}
    gateway = await rig(
        plain({"breaker": shared, "retry.max_attempts": 1}),
        plain({"name": "other", "breaker": shared}),
        plain({"name": "mail", "breaker": alone}),
    )
    await break_it(gateway)
    refused = await gateway.call(tool="other")
    assert code_of(refused) == ErrorCode.CIRCUIT_OPEN
    assert refused.error is not None
    assert re.match(
        r"The payments service failed 2 .*, for [0-9.]+ s now\) and is being left alone", refused.error.message
    )
    mailed = await gateway.call(tool="mail")
    assert (mailed.ok, mailed.meta.source) == (True, "mail")


async def test_a_failure_rate_opens_it_too(rig: MakeRig) -> None:
    """Every other call fails, never two in a row: the share over `min_calls` calls opens it."""
    policy = {"consecutive": 50, "failure_rate": 0.5, "min_calls": 4, "window": "1h", "open": "1h"}
    gateway = await rig(plain({"breaker": policy, "retry.max_attempts": 1}))
    gateway.provider.writes += [act, answer(500), act, answer(500)]
    for number in range(4):
        await gateway.call(f"ORDER{number}")
    assert code_of(await gateway.call()) == ErrorCode.CIRCUIT_OPEN


@pytest.mark.parametrize("kept", [{"failure_rate": 0.9}, {"min_calls": 50}, {"window": "1ms"}])
async def test_rate_calls_and_window_say_when(rig: MakeRig, kept: dict[str, object]) -> None:
    """A higher share, more calls, or a window that forgets: it stays closed."""
    policy = {"consecutive": 50, "failure_rate": 0.5, "min_calls": 4, "window": "1h", "open": "1h", **kept}
    gateway = await rig(plain({"breaker": policy, "retry.max_attempts": 1}))
    gateway.provider.writes += [act, answer(500), act, answer(500)]
    for number in range(4):
        await gateway.call(f"ORDER{number}")
    assert (await gateway.call()).ok


async def test_refusals_are_health(rig: MakeRig) -> None:
    """A service that says no is not down."""
    gateway = await rig(plain(QUICK_BREAKER))
    gateway.provider.writes += [answer(422), answer(404), answer(422)]
    for number in range(3):
        await gateway.call(f"ORDER{number}")
    assert (await gateway.call()).ok


async def test_a_callers_impatience_is_not_the_services_fault(rig: MakeRig) -> None:
    """Deadlines shorter than `timeouts.read` open no breaker, for a write as for a read; waits of `read` do."""
    policy = {"breaker": {"consecutive": 1, "open": "1h", "scope": "one"}, "retry.max_attempts": 1}
    times = {"timeouts.read": "1500ms"}
    gateway = await rig(plain({**policy, **times}), read({**policy, **times}))
    gateway.provider.writes += [silence, silence]
    gateway.provider.reads += [silence]
    assert code_of(await gateway.call("A", deadline_ms=1_200)) == ErrorCode.TIMEOUT_UNKNOWN_OUTCOME
    assert code_of(await gateway.call(tool="get_status", deadline_ms=1_000)) == ErrorCode.DOWNSTREAM_TIMEOUT
    assert [view.state for view in gateway.pipeline.breakers()] in ([], ["closed"])
    assert code_of(await gateway.call("B")) == ErrorCode.TIMEOUT_UNKNOWN_OUTCOME
    assert [view.state for view in gateway.pipeline.breakers()] == ["open"]


async def test_one_probe_closes_it(rig: MakeRig) -> None:
    """After `breaker.open` one call goes through while all others are refused; its success lets everybody in."""
    times = {"breaker": {"consecutive": 1, "open": "100ms", "window": "1h"}, "retry.max_attempts": 1}
    gateway = await rig(keyed({**times, "timeouts.read": "20s"}))
    gateway.provider.writes += [answer(500)]
    await gateway.call("BROKEN")
    await due(gateway)
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    probe = gateway.soon("PROBE")
    await gateway.provider.until_sent(2)
    refused = await asyncio.gather(*(gateway.call(f"ORDER{number}") for number in range(20)))
    assert {code_of(it) for it in refused} == {ErrorCode.CIRCUIT_OPEN}
    hold.set()
    assert (await probe).ok
    assert (await gateway.call()).ok
    assert len(gateway.provider.sent) == 3


async def test_a_probe_that_found_no_slot_is_given_back(rig: MakeRig) -> None:
    """It never left: the next caller probes at once, and does not wait for the end of a probe that was none."""
    shared = {"breaker": {"consecutive": 1, "open": "50ms", "scope": "one"}, "retry.max_attempts": 1}
    crowded = {"limits.concurrency": 1, "timeouts.pool": "50ms", "timeouts.read": "20s"}
    gateway = await rig(keyed(shared), keyed({"name": "crowded", **shared, **crowded}))
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold), answer(500)]
    first = gateway.soon("A", tool="crowded")
    await gateway.provider.until_sent(1)
    await gateway.call("BROKEN")
    await due(gateway)
    assert code_of(await gateway.call("B", tool="crowded")) == ErrorCode.GATEWAY_SATURATED
    assert (await gateway.call("C")).ok
    hold.set()
    assert (await first).ok


@pytest.mark.parametrize(("manifest", "lasts_s"), [(keyed, 1_100), (looked_up, 2_100)])
async def test_a_probe_is_waited_for_as_long_as_it_may_last(
    rig: MakeRig, manifest: Callable[[Mapping[str, Any]], dict[str, Any]], lasts_s: float
) -> None:
    """`total` and `grace` of its attempt; before that, a look at the world until its caller's deadline."""
    times = {"timeouts.total": "1000s", "timeouts.grace": "100s", "timeouts.read": "20s"}
    breaker = {"consecutive": 1, "open": "50ms", "scope": "one"}
    gateway = await rig(manifest({"breaker": breaker, "retry.max_attempts": 1, **times}))
    hold = asyncio.Event()
    gateway.provider.writes += [answer(500), late(hold)]
    await gateway.call("BROKEN")
    await due(gateway)
    probe = gateway.soon("PROBE")
    await gateway.provider.until_sent(2)
    (view,) = [it for it in gateway.pipeline.breakers() if it.scope == "one"]
    assert view.retry_after_s is not None
    assert lasts_s - 15 < view.retry_after_s <= lasts_s
    hold.set()
    assert (await probe).ok


async def test_a_throttled_service_is_left_alone(rig: MakeRig) -> None:
    """Retry-After of one call holds back the next ones too, and says how long; nothing is sent for them."""
    gateway = await rig(plain())
    gateway.provider.writes += [answer(429, Retry_After="60")]
    await gateway.call("A")
    refused = await gateway.call("B")
    assert code_of(refused) == ErrorCode.RATE_LIMITED
    assert refused.error is not None
    assert refused.error.retry_after_s is not None
    assert 50 < refused.error.retry_after_s <= 60
    assert len(gateway.provider.sent) == 1


async def test_a_breaker_that_opens_between_attempts_ends_the_retries(rig: MakeRig) -> None:
    """The second failure opens it: no third attempt, and what is unknown stays unknown."""
    gateway = await rig(keyed({"breaker": {"consecutive": 2, "open": "1h"}, "retry.max_attempts": 8}))
    gateway.provider.writes += [cut] * 8
    envelope = await gateway.call()
    assert envelope.error is not None
    assert (envelope.error.outcome, len(gateway.provider.sent)) == (CallOutcome.UNKNOWN, 2)
    assert (await gateway.record()).state is State.UNKNOWN


async def test_a_write_that_opens_the_breaker_is_told_of_its_own_failure(rig: MakeRig) -> None:
    """Nothing listens there: the second try opens it, and the caller hears of that try, not of the open breaker."""
    gateway = await rig(plain({"breaker": {"consecutive": 2, "open": "1h"}, "retry.max_attempts": 8}))
    await gateway.provider.stop()
    assert code_of(await gateway.call()) == ErrorCode.CONNECT_FAILED
    assert [view.state for view in gateway.pipeline.breakers()] == ["open"]


async def test_a_read_may_probe_before_a_plain_write(rig: MakeRig) -> None:
    """An open breaker that is due lets a read through at once, and a plain write only later."""
    times = {"breaker": {"consecutive": 1, "open": "300ms", "scope": "one"}}
    gateway = await rig(plain({**times, "retry.max_attempts": 1}), read(times))
    gateway.provider.writes += [answer(500)]
    await gateway.call("BROKEN")

    async def read_is_answered() -> bool:
        return (await gateway.call(tool="get_status")).ok

    await eventually(read_is_answered)
    assert (await gateway.call("A")).ok


async def test_an_open_breaker_refuses_before_the_baseline_is_read(rig: MakeRig) -> None:
    """The look-up of a write that may not go out would show nothing that anybody needs: nothing at all is sent."""
    gateway = await rig(looked_up({"breaker": {"consecutive": 1, "open": "1h"}, "retry.max_attempts": 1, **NO_LOOK}))
    await break_it(gateway, 1)
    asked = len(gateway.provider.asked)
    assert code_of(await gateway.call()) == ErrorCode.CIRCUIT_OPEN
    assert (len(gateway.provider.asked), len(gateway.provider.sent)) == (asked, 1)


@pytest.mark.parametrize("scope", ["one", "two"])
async def test_a_baseline_that_fails_under_the_probe_loses_no_probe(rig: MakeRig, scope: str) -> None:
    """The write was the probe and never left. The next one probes, although the lease of the first runs on for long."""
    times = {"breaker": {"consecutive": 1, "open": "50ms", "scope": "one"}, "retry.max_attempts": 1}
    reads = {"breaker": {"consecutive": 1, "open": "50ms", "scope": scope}, "retry.max_attempts": 1}
    gateway = await rig(looked_up({**times, **NO_LOOK, "timeouts.grace": "1h"}), read(reads))
    gateway.provider.writes += [answer(500)]
    await gateway.call("BROKEN")
    await due(gateway)
    gateway.provider.reads += [answer(500)]
    assert code_of(await gateway.call("A")) == ErrorCode.UNAVAILABLE
    assert [it.order for it in gateway.provider.sent] == ["BROKEN"]

    async def goes_through() -> bool:
        return (await gateway.call("B")).ok

    await eventually(goes_through)


async def test_a_baseline_is_read_under_the_probe_of_its_write(rig: MakeRig) -> None:
    """Both ask one dependency: the look-up is no second probe, is not refused as one, and lets nobody else in."""
    times = {"breaker": {"consecutive": 1, "open": "50ms", "scope": "one"}, "retry.max_attempts": 1}
    gateway = await rig(
        looked_up({**times, **NO_LOOK, "timeouts.read": "20s"}), read({**times, "timeouts.read": "20s"})
    )
    gateway.provider.writes += [answer(500)]
    await gateway.call("BROKEN")
    await due(gateway)
    shown = asyncio.Event()
    gateway.provider.reads += [when(shown, listing())]
    asked = len(gateway.provider.asked)
    probe = gateway.soon("A")
    await gateway.provider.until_asked(asked + 1)
    assert code_of(await gateway.call("B")) == ErrorCode.CIRCUIT_OPEN
    shown.set()
    assert (await probe).ok
    assert [view.state for view in gateway.pipeline.breakers()] == ["closed"]
    assert (await gateway.call("B")).ok


async def test_a_span_says_how_the_breaker_stood_when_it_was_asked(rig: MakeRig) -> None:
    """The probe finds it half open and so does who is refused beside it; a read is told of it as a write is."""
    times = {"breaker": {"consecutive": 1, "open": "100ms", "window": "1h"}, "retry.max_attempts": 1}
    shut = {"name": "shut", "breaker": {"consecutive": 1, "open": "1h", "scope": "shut"}, "retry.max_attempts": 1}
    spans = Spans()
    gateway = await rig(keyed({**times, "timeouts.read": "20s"}), keyed(shut), telemetry=spans.telemetry)
    gateway.provider.writes += [answer(500), answer(500)]
    await gateway.call("A", tool="shut")
    await gateway.call("B", tool="shut")
    await gateway.call("A")
    await eventually(
        lambda: any(view.state == "open" and not view.retry_after_s for view in gateway.pipeline.breakers())
    )
    hold = asyncio.Event()
    gateway.provider.writes += [late(hold)]
    probe = gateway.soon("B")
    await gateway.provider.until_sent(3)
    await gateway.call("C")
    hold.set()
    await probe
    await gateway.call(tool="get_status")
    stood = [it.get(BREAKER_STATE) for it in spans.attributes("execute_tool")]
    assert stood == ["closed", "open", "closed", "half_open", "half_open", "closed"]


async def test_a_span_of_a_call_that_asked_no_breaker_says_nothing_of_it(rig: MakeRig) -> None:
    """A replay, a call that its arguments or a rule refused, and one that its dependency's throttle held back."""
    rule = {"code": "over_limit", "require": "args.amount <= 5", "message": "Too much."}
    spans = Spans()
    gateway = await rig(plain({"rules": [rule]}), telemetry=spans.telemetry)
    assert (await gateway.call("A")).ok
    assert (await gateway.call("A")).meta.replayed
    assert code_of(await gateway.call("B", amount=6)) == ErrorCode.OVER_LIMIT
    assert code_of(await gateway.call("B", arguments={"amount": "x"})) == ErrorCode.WRONG_TYPE
    gateway.provider.writes += [answer(429, Retry_After="60")]
    await gateway.call("B")
    assert code_of(await gateway.call("C")) == ErrorCode.RATE_LIMITED
    stood = [it.get(BREAKER_STATE) for it in spans.attributes("execute_tool")]
    assert stood == ["closed", None, None, None, "closed", None]
