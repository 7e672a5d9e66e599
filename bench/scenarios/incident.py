"""S1 and S9: the money has moved, or is about to, and the answer does not come."""

from typing import Any

from bench.scenarios.stage import AMOUNT_PAISE, OPEN, Column, Finding, Play, Stage
from bench.scenarios.target import Kind, Told

SLOW = {"before_s": 0.9}
FAST = {"before_s": 0.1}


def settled(stage: Stage, told: Told) -> bool:
    """Whether the last answer is one that this class of tool can know."""
    if stage.column is Column.PLAIN:
        return told.kind in OPEN | {Kind.DONE, Kind.EXECUTED}
    return told.kind in {Kind.DONE, Kind.EXECUTED}


async def slow_provider(stage: Stage) -> Finding:
    """S1: slow, slow, fast. The caller tries three times, then asks again when the provider has answered."""
    await stage.provider.script(stage.order, SLOW, SLOW, FAST)
    told = [await stage.ask()]
    if stage.column is Column.NAIVE:
        await stage.provider.event("effect", stage.order, nth=3)
        return await stage.find(told)
    told += [await stage.ask(), await stage.ask()]
    await stage.provider.event("effect", stage.order)
    told.append(await stage.ask_again())
    return await stage.find(
        told,
        checks={
            "the caller was told something else than unknown, or the result": all(
                each.kind in OPEN | {Kind.DONE} for each in told
            ),
            "the result never came": told[-1].kind is Kind.DONE,
        },
    )


async def look_up_asked_at_once(stage: Stage) -> Finding:
    """S1L: the connection ends at once, the refund is made later; whoever looks in between finds nothing."""
    await stage.provider.script(stage.order, then={"hold": "late", "ending": "status", "status": 504})
    told = [await stage.ask()]
    if stage.column is not Column.NAIVE:
        await stage.target.look_now(stage.call())
        told.append(await stage.ask())
    await stage.provider.release(stage.order)
    if stage.column is Column.NAIVE:
        return await stage.find(told)
    await stage.provider.event("effect", stage.order)
    await stage.provider.script(stage.order)
    told.append(await stage.ask_later())
    return await stage.find(
        told,
        checks={
            "silence was taken for proof": all(each.kind in OPEN | {Kind.DONE} for each in told),
            "the result never came": settled(stage, told[-1]),
        },
    )


async def other_payment_in_doubt(stage: Stage) -> Finding:
    """S1o: while the first refund of an order is in doubt, another payment of it is to be refunded too."""
    await stage.provider.script(stage.order, then={"hold": "effect"})
    told = [await stage.ask(), await stage.ask(payment_id="PAY-2")]
    await stage.provider.release(stage.order)
    if stage.column is Column.NAIVE:
        await stage.provider.event("effect", stage.order, nth=8)
        return await stage.find(told)
    await stage.provider.event("effect", stage.order)
    told.append(await stage.ask_again())
    return await stage.find(
        told,
        checks={
            "the first call was not in doubt": told[0].kind in OPEN,
            "the other call was not held": told[1].kind in {Kind.NOT_EXECUTED, Kind.IN_PROGRESS},
            "the result never came": told[-1].kind is Kind.DONE,
        },
    )


async def refund_of_yesterday(stage: Stage) -> Finding:
    """S9y: the request is dropped; the list holds a refund of the same payment and amount that somebody made by hand."""
    by_hand = await stage.provider.refund_by_hand(stage.order, payment="PAY-1", paise=AMOUNT_PAISE)
    await stage.provider.script(stage.order, then={"effect": False, "ending": "close"})
    told = [await stage.ask()]
    if stage.column is not Column.NAIVE:
        await stage.target.look_now(stage.call())
        told.append(await stage.ask())
    return await stage.find(
        told,
        effects=0,
        others=(by_hand,),
        checks={"a doubt was ended by another refund": all(each.kind in OPEN | {Kind.NOTHING} for each in told)},
    )


def broken_answer(**ending: Any) -> Play:
    """S9: the provider commits and breaks its answer, until it is well again and the caller asks once more."""

    async def play(stage: Stage) -> Finding:
        await stage.provider.script(stage.order, then=ending)
        told = [await stage.ask()]
        if stage.column is Column.NAIVE:
            return await stage.find(told)
        told.append(await stage.ask())
        await stage.provider.script(stage.order)
        told.append(await stage.ask_later())
        return await stage.find(
            told,
            checks={
                "a failure was told that is not proved": all(
                    each.kind in OPEN | {Kind.DONE, Kind.EXECUTED} for each in told
                ),
                "the result never came": settled(stage, told[-1]),
            },
        )

    return play
