"""S12: nothing was delivered, which can be proved; so a retry is safe and must happen."""

from bench.scenarios.stage import Finding, Stage
from bench.scenarios.target import Kind

DEAF_S = 0.25


async def refused_then_up(stage: Stage) -> Finding:
    """The provider refuses connections for a moment, then comes up."""
    await stage.provider.refuse(DEAF_S)
    told = [await stage.ask()]
    return await stage.find(told, checks={"a retry that is provably safe was not made": told[0].kind is Kind.DONE})
