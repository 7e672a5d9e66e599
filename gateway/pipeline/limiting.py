"""Rates and budgets: asked last before a call acts, so that what it does not do costs nobody anything."""

from gateway.contract.codes import ErrorCode
from gateway.contract.envelope import Envelope
from gateway.manifest.tool import Tool
from gateway.pipeline.parts import Parts
from gateway.pipeline.telling import Telling
from gateway.stages.execute.breaker.quotas import in_words, quotas, shares
from gateway.stages.execute.breaker.spending import Purse
from gateway.stages.monitor.outcome import charged
from gateway.stages.monitor.ports import CallTrace


async def over_limit(parts: Parts, telling: Telling) -> Envelope | None:
    """Count the call by its rates, and its cost to its run; the refusal where there is nothing left of either."""
    refused = await over_rate(parts, telling)
    if refused is not None:
        return refused
    refused = await _over_budget(parts, telling)
    if refused is not None and telling.allowance.taken:
        # The other way round, a call that its rate refuses would keep a budget from one that it lets through.
        await parts.rates.give(telling.allowance.taken, telling.allowance.since)
        telling.allowance.taken, telling.allowance.since, telling.allowance.shares = (), (), ()
    return refused


async def over_rate(parts: Parts, telling: Telling) -> Envelope | None:
    """Take one call from every rate that holds for it; the refusal when one has none left."""
    tool, allowance = telling.tool, telling.allowance
    if tool is None or allowance.taken or not (tool.limits.is_rated or parts.choices.rates):
        return None
    asked = quotas(tool.name, tool.limits, parts.choices.rates, telling.caller)
    left = parts.rates.spend(asked)
    if left is not None:
        if tool.cost is not None:
            allowance.since = parts.rates.since(asked)
        allowance.taken, allowance.shares = asked, shares(asked, left)
        return None
    taken = await parts.rates.take(asked)
    allowance.shares = shares(asked, taken.tokens, refused=taken.refused, wait_s=taken.wait_s)
    if taken.refused is None:
        allowance.taken, allowance.since = asked, taken.since
        return None
    limit = in_words(asked[taken.refused].rate)
    return telling.refuse(ErrorCode.RATE_LIMITED, retry_after_s=taken.wait_s, limit=limit)


async def deliver(parts: Parts, telling: Telling, trace: CallTrace, envelope: Envelope) -> Envelope:
    """The envelope as its caller gets it, with what is left of its rates. A call that was not carried out spends nothing."""
    telling.end(envelope, trace)
    allowance = telling.allowance
    if allowance.purse is not None and not charged(envelope):
        await parts.spending.release(allowance.purse, telling.row_id)
    # By identity: what another call is told of its rates is not told to one that shares its answer.
    if envelope.shares is allowance.shares:
        return envelope
    ok, data, error, meta = envelope.ok, envelope.data, envelope.error, envelope.meta
    return Envelope(ok=ok, data=data, error=error, meta=meta, shares=allowance.shares)


async def _over_budget(parts: Parts, telling: Telling) -> Envelope | None:
    tool = telling.tool
    if tool is None or tool.cost is None or tool.cost.per_run is None or telling.allowance.purse is not None:
        return None
    run_id = telling.call.run_id
    if run_id is None:
        return telling.refuse(ErrorCode.RUN_ID_REQUIRED)
    cost, most = tool.cost, tool.cost.per_run
    purse = Purse(tenant=telling.caller.tenant, run_id=run_id, unit=cost.unit)
    spent = await parts.spending.reserve(purse, telling.row_id, cost.per_call, most)
    if spent is None:
        telling.allowance.purse = purse
        return None
    return telling.refuse(ErrorCode.BUDGET_EXHAUSTED, limit=_budget(tool, spent, most))


def _budget(tool: Tool, spent: float, most: float) -> str:
    unit = "" if tool.cost is None else tool.cost.unit
    return f"{most:g} {unit} a run, {spent:g} spent"
