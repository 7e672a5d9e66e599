"""How long a breaker stays open."""

from dataclasses import replace

import pytest

from gateway.manifest.policies import BreakerPolicy
from gateway.stages.execute.breaker.open_time import JITTER, OPEN_MAX_S, open_for_s

POLICY = BreakerPolicy(scope="payments", open_s=60.0)


@pytest.mark.parametrize(
    ("rounds", "draw", "seconds"),
    [
        (1, 0.5, 60.0),
        (2, 0.5, 120.0),
        (4, 0.5, OPEN_MAX_S),
        (10_000, 0.5, OPEN_MAX_S),
        (1, 0.0, 60.0 * (1 - JITTER)),
        (1, 1.0, 60.0 * (1 + JITTER)),
    ],
)
def test_the_open_time_doubles_to_a_cap_and_jitters(rounds: int, draw: float, seconds: float) -> None:
    """60 s, 120 s, 240 s, then 300 s; a tenth more or less."""
    assert open_for_s(POLICY, rounds=rounds, draw=draw) == pytest.approx(seconds)


def test_an_open_time_above_the_cap_is_kept() -> None:
    """A policy may ask for more than the cap; then nothing doubles."""
    patient = replace(POLICY, open_s=900.0)

    assert open_for_s(patient, rounds=3, draw=0.5) == 900.0
