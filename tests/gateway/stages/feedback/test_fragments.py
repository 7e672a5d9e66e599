"""Each piece says what is known, or something true without it."""

import re

import pytest

from gateway.stages.feedback.context import Context
from gateway.stages.feedback.fragments import FRAGMENTS
from gateway.stages.feedback.sentences import SENTENCES


@pytest.mark.parametrize("name", FRAGMENTS)
def test_no_piece_needs_a_fact(name: str) -> None:
    """With an empty context each still is a text."""
    assert "None" not in FRAGMENTS[name](Context())


def test_no_piece_is_left_over() -> None:
    """Every piece stands in some sentence."""
    used = {piece for template in SENTENCES.values() for piece in re.findall(r"\{(\w+)\}", template)}

    assert used == set(FRAGMENTS)
