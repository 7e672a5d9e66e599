"""Rates and budgets in a call: who is counted, what is told, and that nothing is spent on what was not done."""

import asyncio
from typing import Any

import pytest

from gateway.contract.call import Caller, ToolCall
from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope, Share, succeed
from gateway.pipeline.advances import Advances
from gateway.pipeline.limiting import deliver
from gateway.pipeline.telling import Telling
from tests.gateway.pipeline.conftest import MakeRig
from tests.gateway.pipeline.provider import answer, cut
from tests.gateway.pipeline.rig import ALL, CALLER, Rig, plain, read

OTHER = Caller(subject="other", tenant="acme", permissions=ALL)
STRANGER = Caller(subject="agent", tenant="globex", permissions=ALL)
COST = {"cost": {"unit": "act", "per_call": 2, "per_run": 4}}


def code_of(envelope: Envelope) -> ErrorCode | None:
    """Of the error, if there is one."""
    return None if envelope.error is None else envelope.error.code


def left(envelope: Envelope) -> dict[str, int]:
    """What the caller is told is left, by the names of the rates."""
    return {share.name: share.left for share in envelope.shares}


@pytest.mark.parametrize(
    ("limits", "settings", "others", "strangers"),
    [
        ({"rate": "1/h"}, {}, None, None),
        ({"tenant_rate": "1/h"}, {}, "rate_limited", None),
        ({"total_rate": "1/h"}, {}, "rate_limited", "rate_limited"),
        ({}, {"caller_rate": "1/h"}, None, None),
        ({}, {"tenant_rate": "1/h"}, "rate_limited", None),
    ],
)
@pytest.mark.parametrize("effect", ["read", "write"])
async def test_each_rate_counts_its_own(
    rig: MakeRig,
    effect: str,
    limits: dict[str, Any],
    settings: dict[str, Any],
    others: str | None,
    strangers: str | None,
) -> None:
    """The caller that has used its call up is refused; others of the tenant, and of another, only by a rate of theirs."""
    made = read({"limits": limits}) if effect == "read" else plain({"limits": limits})
    gateway = await rig(made, settings=settings)
    tool = str(made["name"])
    first = await gateway.call("A", tool=tool)
    again = await gateway.call("B", tool=tool)

    assert (code_of(first), code_of(again)) == (None, ErrorCode.RATE_LIMITED)
    assert again.error is not None
    assert again.error.details["limit"] == "1 calls in 3600 s"
    assert again.error.retry_after_s is not None
    assert 3_500 < again.error.retry_after_s <= 3_600
    assert code_of(await gateway.call("C", tool=tool, caller=OTHER)) == others
    assert code_of(await gateway.call("D", tool=tool, caller=STRANGER)) == strangers


async def test_several_rates_hold_together(rig: MakeRig) -> None:
    """A burst, and a quota for the day; what either refuses is taken from neither."""
    gateway = await rig(plain({"limits": {"rate": ["2/h", "3/d"]}}), settings={"caller_rate": "9/h,10/d"})
    limits = [(await gateway.call(order)).error for order in "ABC"]
    gateway.clock.ahead_s += 3600
    limits += [(await gateway.call(order)).error for order in "CD"]

    assert [None if it is None else it.details["limit"] for it in limits] == [
        None,
        None,
        "2 calls in 3600 s",
        None,
        "3 calls in 86400 s",
    ]


async def test_settings_count_over_all_tools(rig: MakeRig) -> None:
    """A rate of the operator's is not for each tool anew."""
    gateway = await rig(plain(), settings={"caller_rate": "1/h"})

    assert (await gateway.call(tool="get_status")).ok
    assert code_of(await gateway.call()) is ErrorCode.RATE_LIMITED


async def test_what_is_left_is_told(rig: MakeRig) -> None:
    """With every answer of a call that was counted, and to a refused one too; never of what others use up."""
    limits = {"rate": "3/h", "tenant_rate": "4/h", "total_rate": "9/h"}
    gateway = await rig(plain({"limits": limits}))
    await gateway.call("A", caller=OTHER)
    told = [left(await gateway.call(order)) for order in "BCDE"]

    assert told == [
        {"tool-caller-per-h": 2, "tool-tenant-per-h": 2},
        {"tool-caller-per-h": 1, "tool-tenant-per-h": 1},
        {"tool-caller-per-h": 0, "tool-tenant-per-h": 0},
        {"tool-caller-per-h": 0, "tool-tenant-per-h": 0},
    ]


async def test_answers_that_took_nothing_tell_nothing(rig: MakeRig) -> None:
    """A replay, a refusal before the rate, and a tool without one."""
    gateway = await rig(plain({"limits": {"rate": "9/h"}}), read())
    await gateway.call("A")

    for envelope in (await gateway.call("A"), await gateway.call("A", 6), await gateway.call(tool="get_status")):
        assert envelope.shares == ()


async def test_who_waits_for_anothers_answer_is_told_nothing_of_its_rate(rig: MakeRig) -> None:
    """The owner's share is the owner's."""
    gateway = await rig(plain({"limits": {"rate": "9/h"}}))
    go = asyncio.Event()

    async def later(exchange: Any) -> None:
        await go.wait()
        await exchange.send(200, {"id": "1"})

    gateway.provider.writes.append(later)
    first = gateway.soon("A")
    await gateway.provider.until_sent(1)
    second = gateway.soon("A", caller=OTHER)
    await gateway.waiting(gateway.pipeline)
    go.set()

    assert left(await first) == {"tool-caller-per-h": 8}
    assert (await second).shares == ()


async def test_an_answer_is_told_with_its_own_callers_rates(rig: MakeRig) -> None:
    """One that came with another call's is told without them."""
    gateway = await rig(plain())
    parts, call = gateway.parts, ToolCall(tool="act", arguments={}, request_id="r")
    trace = parts.telemetry.call_started(None, traceparent=None, tracestate=None, run_id=None, arrived_at=0.0)
    telling = Telling(parts, call, OTHER, trace_id=None, arrived=0.0)
    answer_of_another = succeed({}, telling.meta(), (Share("tool-caller-per-h", 9, 3600, 8, 400),))

    assert (await deliver(parts, telling, trace, answer_of_another)).shares == ()


async def test_a_call_is_counted_once(rig: MakeRig) -> None:
    """However often it must look at its record: one that was taken over costs one call."""
    gateway = await rig(plain({"limits": {"rate": "2/h"}}))
    gateway.provider.writes.append(answer(422, {"no": "x"}))
    assert (await gateway.call("A")).error is not None

    assert left(await gateway.call("A", 6)) == {"tool-caller-per-h": 0}


async def spent(gateway: Rig, *orders: str, run: str = "run-1", **call: Any) -> list[ErrorCode | None]:
    """What calls of one run come to."""
    return [code_of(await gateway.call(order, run_id=run, **call)) for order in orders]


async def test_a_run_may_spend_its_budget_and_no_more(rig: MakeRig) -> None:
    """Two calls of two units each; the third leaves no record and sends nothing; another run has its own."""
    gateway = await rig(plain(COST))

    assert await spent(gateway, "A", "B", "C") == [None, None, ErrorCode.BUDGET_EXHAUSTED]
    refused = await gateway.call("C", run_id="run-1")
    assert refused.error is not None
    assert refused.error.details["limit"] == "4 act a run, 4 spent"
    assert len(gateway.provider.sent) == len(await gateway.records()) == 2
    assert await spent(gateway, "C", run="run-2") == [None]
    assert await spent(gateway, "A", caller=STRANGER) == [None]


async def test_what_a_budget_refuses_uses_up_no_rate(rig: MakeRig) -> None:
    """Nothing came of the call; and the caller is not told of a share that it has not."""
    gateway = await rig(plain({**COST, "limits": {"rate": "9/h"}}))
    await spent(gateway, "A", "B")
    refused = [await gateway.call("C", run_id="run-1") for _ in range(2)]

    assert [(code_of(it), it.shares) for it in refused] == [(ErrorCode.BUDGET_EXHAUSTED, ())] * 2
    assert left(await gateway.call("C", run_id="run-2")) == {"tool-caller-per-h": 6}


async def test_tools_of_one_unit_share_a_budget(rig: MakeRig) -> None:
    """Each compares the sum with its own bound; a tool of another unit does not count."""
    cheap = plain({"name": "cheap", "cost": {"unit": "act", "per_call": 1, "per_run": 3}})
    other = plain({"name": "other", "cost": {"unit": "mail", "per_call": 3, "per_run": 3}})
    gateway = await rig(plain(COST), cheap, other)

    assert await spent(gateway, "A") == [None]
    assert await spent(gateway, "B", "C", tool="cheap") == [None, ErrorCode.BUDGET_EXHAUSTED]
    assert await spent(gateway, "D", tool="other") == [None]
    assert await spent(gateway, "E") == [ErrorCode.BUDGET_EXHAUSTED]


async def test_a_budget_needs_a_run(rig: MakeRig) -> None:
    """Else leaving the run out would be the way around it."""
    gateway = await rig(plain(COST))

    assert code_of(await gateway.call()) is ErrorCode.RUN_ID_REQUIRED
    assert gateway.provider.requests == []


async def test_replays_and_refusals_are_not_charged(rig: MakeRig) -> None:
    """Answered from the record, refused by the provider, refused by us: the budget is as it was."""
    gateway = await rig(plain({**COST, "rules": [{"code": "r", "require": "args.amount < 9", "message": "No."}]}))
    gateway.provider.writes += [answer(200, {"id": "1"}), answer(422, {"no": "x"})]

    assert await spent(gateway, "A", "A", "B") == [None, None, ErrorCode.REJECTED]
    assert await spent(gateway, "C", amount=9) == [ErrorCode.RULE_DENIED]
    assert await spent(gateway, "D", "E") == [None, ErrorCode.BUDGET_EXHAUSTED]


async def test_an_unknown_outcome_is_charged(rig: MakeRig) -> None:
    """It may have been carried out; asking again about it costs nothing more."""
    gateway = await rig(plain(COST))
    gateway.provider.writes.append(cut)

    assert await spent(gateway, "A", "A") == [ErrorCode.OUTCOME_UNKNOWN] * 2
    assert await spent(gateway, "B", "C") == [None, ErrorCode.BUDGET_EXHAUSTED]


async def test_reads_have_budgets_too(rig: MakeRig) -> None:
    """Charged when they were answered, and not when they failed."""
    gateway = await rig(read({**COST, "retry": {"max_attempts": 1}}))
    gateway.provider.reads.append(answer(503))

    assert await spent(gateway, "A", "A", "A", "A", tool="get_status") == [
        ErrorCode.UNAVAILABLE,
        None,
        None,
        ErrorCode.BUDGET_EXHAUSTED,
    ]


async def test_calls_at_once_do_not_overspend(rig: MakeRig) -> None:
    """What runs is reserved before it is sent."""
    gateway = await rig(plain(COST))
    codes = [code_of(it) for it in await asyncio.gather(*(gateway.soon(f"O{n}", run_id="run-1") for n in range(6)))]

    assert codes.count(None) == len(gateway.provider.acts) == 2
    assert codes.count(ErrorCode.BUDGET_EXHAUSTED) == 4


async def test_two_processes_on_one_file_count_together(rig: MakeRig) -> None:
    """Rates and budgets, on SQLite as on a server."""
    gateway = await rig(plain({**COST, "limits": {"rate": "3/h"}}))
    second = gateway.also()

    assert await spent(gateway, "A") == [None]
    assert await spent(gateway, "B", at=second) == [None]
    assert await spent(gateway, "C") == [ErrorCode.BUDGET_EXHAUSTED]
    assert await spent(gateway, "C", "D", run="run-2", at=second) == [None, ErrorCode.RATE_LIMITED]


async def test_without_limits_nothing_is_counted(rig: MakeRig) -> None:
    """Neither file nor question: a call without limits does not pay for them."""
    gateway = await rig(plain({"cost": {"unit": "act", "per_call": 1}}))
    await gateway.call(caller=CALLER)

    assert not [file for file in gateway.manifests.parent.iterdir() if "limits" in file.name]


async def test_fast_rates_are_taken_in_advance(rig: MakeRig) -> None:
    """The gateway asks its store through what holds tokens; a call that finds one there is counted, and told, as ever."""
    gateway = await rig(read({"limits": {"rate": "600000/m"}}))
    rates = gateway.parts.rates
    assert isinstance(rates, Advances)
    # Time stands still for what is held. In the bucket it does not: what is asked for would have been refilled.
    now = rates.now()
    rates.now = lambda: now
    told = [left(await gateway.call(order, tool="get_status"))["tool-caller-per-m"] for order in "ABCDEF"]

    assert told[1:] == [told[1] - at for at in range(5)]


async def test_what_was_taken_in_advance_is_given_back_too(rig: MakeRig) -> None:
    """A budget refuses the call; its token is there for the next one."""
    gateway = await rig(plain({**COST, "limits": {"rate": "600000/m"}}))
    rates = gateway.parts.rates
    assert isinstance(rates, Advances)
    now = rates.now()
    rates.now = lambda: now
    await spent(gateway, "A", "B")
    before = left(await gateway.call("D", run_id="run-2"))["tool-caller-per-m"]
    refused = await gateway.call("C", run_id="run-1")

    assert code_of(refused) is ErrorCode.BUDGET_EXHAUSTED
    assert left(await gateway.call("E", run_id="run-2"))["tool-caller-per-m"] == before - 1
