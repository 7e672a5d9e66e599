"""Handlers that wait, moved behind their `try`."""

import ast
import asyncio
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from compiling.modules import chosen
from compiling.waits import WaitsError, moved_behind

ROOT = Path(__file__).parent.parent.parent
SOURCE = '''
async def asked(failure, told, waits):
    """Each way out of a handler that waits."""
    for number in (1, 2):
        try:
            told.append(number)
            if failure is not None:
                raise failure
        except ValueError as error:
            await waits()
            told.append(str(error))
            if str(error) == "again" and number == 1:
                continue
            if str(error) == "anew":
                raise
            if str(error) == "another":
                raise KeyError("another") from error
            try:
                raise IndexError("inside")
            except IndexError:
                told.append("inside")
                if str(error) == "inner":
                    raise
            return "answered"
        except TypeError:
            told.append("no wait")
        except (KeyError, LookupError):
            await waits()
            raise
        else:
            told.append("fine")
        finally:
            told.append("at last")
    return "behind"
'''
FAILURES = (
    None,
    *(ValueError(word) for word in ("again", "anew", "another", "inner", "plain")),
    TypeError("type"),
    KeyError("key"),
    OSError("not caught"),
)


def _end(source: str, failure: Exception | None) -> tuple[object, ...]:
    """What becomes of `asked`, and what it told on the way."""
    there: dict[str, Any] = {}
    exec(compile(source, "asked.py", "exec"), there)  # noqa: S102 - the source stands above
    asked = there["asked"]
    assert isinstance(asked, FunctionType)
    told: list[object] = []

    async def waits() -> None:
        await asyncio.sleep(0)
        told.append("waited")

    try:
        return asyncio.run(asked(failure, told, waits)), *told
    except Exception as error:  # noqa: BLE001 - how it ends is what is compared
        return type(error), str(error), type(error.__cause__), *told


@pytest.mark.parametrize("failure", FAILURES, ids=repr)
def test_a_handler_that_waits_does_the_same_behind_its_try(failure: Exception | None) -> None:
    """It answers, goes on, raises anew, raises another; what is last stays last."""
    assert _end(moved_behind(SOURCE, "asked.py"), failure) == _end(SOURCE, failure)


def test_no_handler_of_what_is_compiled_waits() -> None:
    """Nor does a `finally`: the modules that have one are left out."""
    for name in chosen(ROOT):
        moved = ast.parse(moved_behind((ROOT / name).read_text(encoding="utf-8"), name))
        for node in ast.walk(moved):
            if isinstance(node, ast.Try):
                waiting = [*_waits(node.finalbody), *(line for each in node.handlers for line in _waits(each.body))]
                assert not waiting, (name, waiting)


def _waits(nodes: list[ast.stmt]) -> Iterator[int]:
    for statement in nodes:
        for node in ast.walk(statement):
            if isinstance(node, ast.Await | ast.AsyncWith | ast.AsyncFor | ast.Yield):
                yield node.lineno


def test_a_finally_that_waits_is_refused() -> None:
    """Compiled, it would raise what another coroutine is handling."""
    source = "async def end(waits):\n    try:\n        pass\n    finally:\n        await waits()\n"
    with pytest.raises(WaitsError, match=r"end\.py:2: its `finally` waits"):
        moved_behind(source, "end.py")


def test_a_log_line_that_takes_the_exception_from_its_handler_is_refused() -> None:
    """Behind the handler it would say nothing of it."""
    source = "async def end(log, waits):\n    try:\n        pass\n    except ValueError:\n        log.exception('no')\n        await waits()\n"
    with pytest.raises(WaitsError, match=r"end\.py:5: after its handler"):
        moved_behind(source, "end.py")


def test_what_does_not_wait_stays_as_it_is() -> None:
    """To the letter, comments and all."""
    source = "def end(log):\n    try:\n        pass  # nothing\n    except ValueError:\n        log.exception('no')\n"
    assert moved_behind(source, "end.py") == source
