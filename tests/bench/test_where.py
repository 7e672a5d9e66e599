"""Shares of CPU: a moment belongs to the gateway's innermost part."""

import sys
from types import FrameType

from bench.where import part_of
from gateway.contract.canonical import canonical


def frame_of(call: str) -> FrameType:
    """The frame in which a built-in stands that the gateway called last."""
    seen: list[FrameType] = []

    def look(frame: FrameType, event: str, _: object) -> None:
        if event == call:
            seen.append(frame)

    sys.setprofile(look)
    try:
        canonical({"a": 1})
    finally:
        sys.setprofile(None)
    return seen[-2]


def test_what_a_library_does_counts_for_who_called_it() -> None:
    """A function of C that the contract calls is the contract's."""
    assert part_of(frame_of("c_return")) == "contract"


def test_what_is_nobodys_is_the_loops() -> None:
    """Without a function of the gateway's on the stack it is the loop that runs."""
    assert part_of(None) == "loop, tasks, sockets"
