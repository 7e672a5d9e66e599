"""What a `finally` must not ask, compiled."""

from pathlib import Path

import pytest

from compiling.modules import chosen
from compiling.settled import SettledError, refuse_settled

ROOT = Path(__file__).parent.parent.parent
ASKS = """
def spend(store):
    taken = None
    try:
        taken = store.take()
    finally:
        if taken is None:
            store.give()
"""


def test_a_finally_that_asks_whether_its_body_came_so_far_is_refused() -> None:
    """By file and line: compiled, it would give nothing back where `take` raised."""
    with pytest.raises(SettledError, match=r"spend\.py:7: compiled, this `finally`"):
        refuse_settled(ASKS, "spend.py")


def test_a_name_that_a_handler_leaves_as_it_was_may_be_asked() -> None:
    """Mypy knows then that it may be None."""
    refuse_settled(ASKS.replace("    finally:", "    except ValueError:\n        pass\n    finally:"), "spend.py")
    with pytest.raises(SettledError):
        refuse_settled(ASKS.replace("    finally:", "    except ValueError:\n        raise\n    finally:"), "spend.py")


def test_nothing_that_is_compiled_asks_so() -> None:
    """In every module."""
    for name in chosen(ROOT):
        refuse_settled((ROOT / name).read_text(encoding="utf-8"), name)
