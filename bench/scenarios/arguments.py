"""S4, S6 and S10: the same operation in other words, another operation in the same words, and words nobody knows."""

import asyncio
import unicodedata

from bench.scenarios.stage import AMOUNT_PAISE, OPEN, Column, Finding, Stage
from bench.scenarios.target import Kind

OTHER_AMOUNT_PAISE = AMOUNT_PAISE + 1
CAFE = "PAY-café"


async def changed_amount(stage: Stage) -> Finding:
    """S4: the same key with another amount, while the first call runs and after it is done."""
    await stage.provider.script(stage.order, {"hold": "effect"})
    first = asyncio.create_task(stage.ask())
    await stage.provider.event("received", stage.order)
    during = await stage.ask(amount_paise=OTHER_AMOUNT_PAISE)
    await stage.provider.release(stage.order)
    ended = await first
    # On a slow machine the gateway may have listened long enough before the release: the same call has the result then.
    had = await stage.ask_again() if ended.kind in OPEN else ended
    told = [had, during, await stage.ask(amount_paise=OTHER_AMOUNT_PAISE)]
    return await stage.find(
        told,
        checks={
            "the first call did not get its result": told[0].kind is Kind.DONE,
            "another amount during the call is no conflict": told[1].kind is Kind.CONFLICT,
            "another amount after the call is no conflict": told[2].kind is Kind.CONFLICT,
        },
    )


async def extra_argument(stage: Stage) -> Finding:
    """S6: an argument that the tool does not have, as a model makes one up."""
    told = await stage.ask(force=True)
    refused = told.kind is Kind.NOT_EXECUTED and told.code == "unknown_arguments"
    return await stage.find([told], effects=0, checks={"the caller was not told which argument is unknown": refused})


async def same_in_other_words(stage: Stage) -> Finding:
    """S10: key order, 1 and 1.0, blanks, case where the manifest normalises it, NFC and NFD."""
    told = [await stage.ask(payment_id=CAFE)]
    reordered = {"amount_paise": AMOUNT_PAISE, "payment_id": CAFE, "order_id": stage.order}
    spellings = [
        reordered,
        {**reordered, "amount_paise": float(AMOUNT_PAISE)},
        {**reordered, "order_id": f" {stage.order} "},
        {**reordered, "order_id": stage.order.lower()},
        {**reordered, "payment_id": unicodedata.normalize("NFD", CAFE)},
    ]
    told += [await stage.ask_in(each) for each in spellings]
    same = {(each.kind, each.refund_id) for each in told}
    return await stage.find(told, checks={"one refund got several answers": len(same) == 1})


async def other_in_similar_words(stage: Stage) -> Finding:
    """S10d: another amount is a conflict; a payment in another case, which no normaliser touches, is another refund."""
    told = [await stage.ask(), await stage.ask(amount_paise=OTHER_AMOUNT_PAISE), await stage.ask(payment_id="pay-1")]
    expected = [Kind.DONE, Kind.DONE if stage.column is Column.NAIVE else Kind.CONFLICT, Kind.DONE]
    return await stage.find(
        told,
        effects=2,
        checks={
            "the amount was not told apart": [each.kind for each in told] == expected,
            "the payment was not told apart": told[0].refund_id != told[2].refund_id,
        },
    )
