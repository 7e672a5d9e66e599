"""The table of sentences is whole."""

import re

import pytest

from gateway.contract.codes import ErrorCode
from gateway.stages.feedback.fragments import FRAGMENTS
from gateway.stages.feedback.sentences import SENTENCES


def test_every_code_has_a_sentence() -> None:
    """In the order of the codes, so that both tables can be read side by side."""
    assert list(SENTENCES) == list(ErrorCode)


@pytest.mark.parametrize("code", ErrorCode)
def test_every_piece_exists(code: ErrorCode) -> None:
    """A sentence is made of known pieces and of nothing that looks like one."""
    pieces = re.findall(r"\{(\w*)\}", SENTENCES[code])

    assert set(pieces) <= set(FRAGMENTS)
    assert SENTENCES[code].count("{") == len(pieces)
