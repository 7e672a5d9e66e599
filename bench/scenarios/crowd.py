"""S2: many callers mean the same refund at the same time."""

from bench.scenarios.stage import Finding, Play, Stage
from bench.scenarios.target import Kind

CALLS = 20


def identical_calls(*, clients: int) -> Play:
    """Twenty identical calls at once, from so many client processes, over all gateway processes."""

    async def play(stage: Stage) -> Finding:
        await stage.provider.script(stage.order, then={"before_s": 0.2})
        told = await stage.target.burst(stage.call(), clients=clients, each=CALLS // clients)
        results = {each.refund_id for each in told if each.kind is Kind.DONE}
        return await stage.find(
            told,
            checks={
                "nobody got the result": bool(results),
                "two callers got different results": len(results) <= 1,
                "a caller was told neither the result nor to wait": all(
                    each.kind in {Kind.DONE, Kind.IN_PROGRESS} for each in told
                ),
            },
        )

    return play
