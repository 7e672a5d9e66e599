"""F20: races around one approval. It authorises exactly one execution of exactly one action, before it lapses (I11)."""

import asyncio
import time
from dataclasses import replace
from typing import Any, Final

from bench.faults.client import Answer, Refund
from bench.faults.judge import RESULT_KNOWN
from bench.faults.site import PATIENCE_S, PLAIN_PATIENCE_S, Site
from bench.scenarios.approvals import BRIEF, LARGE_PAISE, OTHER_PAISE
from bench.scenarios.target import Kind

CALLS: Final = 6
BRIEF_S: Final = 1.0
"""`approval.expires_after` of the tool whose approvals lapse quickly."""
WORDS: Final = (("approve", "approve"), ("approve", "deny"), ("deny", "approve"))


async def approval_race(site: Site) -> list[str]:
    """One run: two leads at once, another amount at once, or calls around the end of its time, or after it."""
    return await site.nth((_two_leads, _another_amount, _around_its_end, _after_its_end))(site)


async def _two_leads(site: Site) -> list[str]:
    """Both decide at once, at two gateways, while the action is called: one word counts, and what it says is so."""
    refund = replace(site.new_refund(), amount_paise=LARGE_PAISE)
    approval_id = await _asked(site, refund)
    words = site.dice.choice(WORDS)
    first, second, answers = await asyncio.gather(
        site.decide(approval_id, 0, words[0]),
        site.decide(approval_id, 1, words[1]),
        site.both(refund, CALLS),
    )
    if first and second:
        return [f"{refund.order} {refund.tool}: two words were taken"]
    if await _word(site, approval_id) == "denied":
        answers.append(await site.call(refund, 0))
        denied = answers[-1].told.code == "approval_denied"
        wrong = [] if denied else [f"{refund.order} {refund.tool}: denied, and told {answers[-1].told}"]
        return wrong + await _none(site, refund, "it was denied")
    return await _once(site, refund, answers)


async def _another_amount(site: Site) -> list[str]:
    """What was approved, and the same with another amount, called at once or after it: nothing else is ever made."""
    refund = replace(site.new_refund(), amount_paise=LARGE_PAISE)
    other = replace(refund, amount_paise=OTHER_PAISE)
    approval_id = await _asked(site, refund)
    await site.decide(approval_id, 0, "approve")
    await _word(site, approval_id)
    before = [await site.call(other, 1)] if site.dice.random() < 0.5 else []
    both = [site.call(each, number) for number, each in enumerate([other, refund] * (CALLS // 2))]
    answers = await asyncio.gather(*both)
    wrong = [
        f"{refund.order} {refund.tool}: the amount that nobody approved was told {answer.told}"
        for answer in (*before, *answers[::2])
        if answer.told.kind in RESULT_KNOWN
    ]
    if not wrong:
        # Where the other was made, the approved one never will be, however long one asks.
        wrong += await _once(site, refund, answers[1::2])
    return wrong + [
        f"{refund.order} {refund.tool}: made over {paise} paise, which nobody approved"
        for paise in await _amounts(site, refund)
        if paise != LARGE_PAISE
    ]


async def _around_its_end(site: Site) -> list[str]:
    """Approved in time, and called about when that is over."""
    return await _at_its_end(site, site.dice.uniform(-0.6, 0.3))


async def _after_its_end(site: Site) -> list[str]:
    """Approved in time, and called when that is over."""
    return await _at_its_end(site, site.dice.uniform(0.0, 0.3))


async def _at_its_end(site: Site, later_s: float) -> list[str]:
    """Approved in time, and called `later_s` after its time is over (or before): what begins afterwards is not made."""
    refund = replace(site.new_refund(BRIEF), amount_paise=LARGE_PAISE)
    lapsed_by, until = 0.0, time.monotonic() + PLAIN_PATIENCE_S
    approved = False
    while not approved and time.monotonic() < until:
        asked = await site.call(refund, 0)
        # It was made before we heard of it, so that it lapses at this moment at the latest.
        lapsed_by = time.time() + BRIEF_S
        approved = asked.approval_id is not None and await site.decide(asked.approval_id, 0, "approve")
    if not approved:
        return [f"{refund.order} {refund.tool}: no lead was in time"]
    await asyncio.sleep(max(0.0, lapsed_by + later_s - time.time()))
    late = time.time() >= lapsed_by
    answers = await site.both(refund, CALLS)
    if late:
        return await _none(site, refund, "it had lapsed before the first call")
    return await site.judged(refund, answers)


async def _asked(site: Site, refund: Refund) -> str:
    """Call until somebody is asked: a busy store turns a call away."""
    async with asyncio.timeout(PATIENCE_S):
        while (asked := await site.call(refund, 0)).approval_id is None:  # noqa: ASYNC110 - in other processes
            await asyncio.sleep(0.2)
    return asked.approval_id


async def _word(site: Site, approval_id: str) -> str:
    """What was decided. Where no word came through, because the store was busy, the first lead says yes."""
    async with asyncio.timeout(PATIENCE_S):
        while (state := await site.state_of(approval_id)) in (None, "pending"):
            await site.decide(approval_id, 0, "approve")
    assert state is not None
    return state


async def _once(site: Site, refund: Refund, answers: list[Answer]) -> list[str]:
    answers = [*answers, *await site.until_settled(refund)]
    ends = RESULT_KNOWN | {Kind.UNKNOWN}
    wrong = [] if answers[-1].told.kind in ends else [f"{refund.order} {refund.tool}: still told {answers[-1].told}"]
    return wrong + await site.judged(refund, answers)


async def _none(site: Site, refund: Refund, why: str) -> list[str]:
    made = await _amounts(site, refund)
    return [f"{refund.order} {refund.tool}: made {len(made)} times although {why}"] if made else []


async def _amounts(site: Site, refund: Refund) -> list[int]:
    effects: Any = (await site.provider.ledger(refund.order))["effects"]
    return [effect["amount_paise"] for effect in effects]
