"""Two schedules on purpose: a tool's retries are the gateway's, an inference's and a read's are the loop's."""

from agent_client.backoff import INFERENCE_BOUNDS_S
from agent_client.wire import CallRequest
from gateway.demo.behaviour import Behaviour, Ending
from gateway.manifest.policies import RetryPolicy
from gateway.stages.retry.backoff import full_jitter_s
from tests.agent_client.conftest import MakeWorld
from tests.agent_client.world import ORDER

DOWN = Behaviour(effect=False, ending=Ending.STATUS, status=503)


def test_A13_a_tools_retries_wait_from_nothing_to_a_doubled_base_and_never_above_the_cap() -> None:
    """Base 1 s, cap 30 s, full jitter; four attempts with the first. An inference has bounds of its own."""
    policy = RetryPolicy()

    def wait_s(retries: int, draw: float) -> float:
        return full_jitter_s(base_s=policy.base_s, cap_s=policy.cap_s, retries=retries, draw=draw)

    assert [wait_s(retries, 1.0) for retries in range(7)] == [1, 2, 4, 8, 16, 30, 30]
    assert [wait_s(3, draw) for draw in (0.0, 0.25, 0.5)] == [0, 2, 4]
    assert policy.max_attempts == 4
    assert INFERENCE_BOUNDS_S == (0.5, 1.0, 2.0)


async def test_A13_the_gateway_makes_the_attempts_of_the_manifest_and_no_more(make_world: MakeWorld) -> None:
    """A dependency that is down gets three for one call, and the envelope counts them."""
    retry = {"max_attempts": 3, "base": "1ms", "cap": "2ms", "budget": 1.0}
    world = await make_world({"lookup_order": {"retry": retry}})
    world.provider(*[DOWN] * 10, method="GET")

    answer = await world.gateway.call(
        CallRequest(tool="lookup_order", arguments={"order_id": ORDER}, request_id="r", run_id="run", step=1)
    )

    assert not answer.ok
    assert answer.meta.attempts == 3
