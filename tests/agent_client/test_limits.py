"""Limits that make sense, and no others."""

from typing import Any

import pytest
from pydantic import ValidationError

from agent_client.limits import Limits


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_steps": 0},
        {"active_seconds": 0},
        {"max_tokens": 0},
        {"max_reply_tokens": 1},
        {"max_polls": -1},
        {"max_prompt_tokens": 255},
        {"max_wait_seconds": 0},
        {"max_resumes": -1},
        {"reconcile_seconds": -1},
        {"flight_seconds": -1},
        {"inference_seconds": 0},
        {"read_seconds": 0},
        {"max_repeat": 0},
        {"max_stalled": 0},
        {"steps": 8},
    ],
)
def test_a_limit_that_bounds_nothing_is_refused(wrong: dict[str, Any]) -> None:
    """Zero steps, negative polls, a name that does not exist."""
    with pytest.raises(ValidationError):
        Limits(**wrong)
