"""Functions inside a function that would hold one another, compiled."""

from pathlib import Path

import pytest

from compiling.modules import chosen
from compiling.rings import RingError, refuse_rings

ROOT = Path(__file__).parent.parent.parent
WAITS = """
async def wait(over, loop, tell):
    def end():
        over.set_result(None)

    def sent(at):
        loop.call_at(at, end)

    tell(sent)
    await over
"""


def test_a_function_that_another_beside_it_names_is_refused() -> None:
    """By file and line of the one that names it, whether it is a `def` or a lambda."""
    with pytest.raises(RingError, match=r"wait\.py:6: compiled, `end`"):
        refuse_rings(WAITS, "wait.py")
    by_lambda = WAITS.replace(
        "    def end():\n        over.set_result(None)", "    end = lambda: over.set_result(None)"
    )
    with pytest.raises(RingError, match=r"wait\.py:5: compiled, `end`"):
        refuse_rings(by_lambda, "wait.py")


def test_a_function_that_names_itself_is_refused() -> None:
    """A recursion inside a function."""
    with pytest.raises(RingError, match=r"walk\.py:2: compiled, `down`"):
        refuse_rings("def walk(tree):\n    def down(it):\n        return [down(each) for each in it]\n", "walk.py")


def test_functions_that_do_not_name_each_other_may_share_what_they_like() -> None:
    """What they share then holds none of them, and a name of their own is another."""
    refuse_rings(WAITS.replace("loop.call_at(at, end)", "over.set_result(at)"), "wait.py")
    refuse_rings(WAITS.replace("def sent(at):", "def sent(at, end):"), "wait.py")
    refuse_rings(WAITS.replace("tell(sent)", "tell(sent, end)").replace("(at, end)", "(at, over)"), "wait.py")


def test_nothing_that_is_compiled_makes_such_a_ring() -> None:
    """In every module."""
    for name in chosen(ROOT):
        refuse_rings((ROOT / name).read_text(encoding="utf-8"), name)
