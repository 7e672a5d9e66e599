"""A small tree, really compiled, behaves as the source does."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from compiling.__main__ import as_compiled, copy, is_done, mark_done
from compiling.build import grouped
from compiling.rings import RingError
from compiling.settled import SettledError

ROOT = Path(__file__).parent.parent.parent
SOURCE = '''
import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from gateway.contract.changed import changed
from gateway.contract.quick import quick


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Refund:
    """One refund."""

    order: str
    paise: int = 0
    facts: dict[str, int] = field(default_factory=dict)
    value: str = ""


def valued(refund: Refund) -> Refund:
    """Changed by compiled code, in a field of any name."""
    return changed(refund, value="new")


class Refused(ValueError):
    """It was refused."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self._code = code

    @property
    def code(self) -> str:
        return self._code


class TooLarge(Refused):
    """It was refused for its size."""

    @property
    def code(self) -> str:
        return "too_large"


def refuse(error: Refused) -> str:
    """The code of a refusal, asked by compiled code."""
    return error.code


async def answered(refuses: bool, told: list[str]) -> None:
    """Wait in a handler."""
    try:
        if refuses:
            raise Refused("no", code="rejected")
    except Refused as refused:
        await asyncio.sleep(0)
        told.append(refused.code)


async def ended(waiting: bool, told: list[str]) -> None:
    """What it is to raise, after a handler that waited."""
    await answered(True, told)
    try:
        if waiting:
            await asyncio.sleep(0)
    finally:
        told.append("at last")


async def shared(told: list[str], later: Callable[[Callable[[str], None]], None]) -> None:
    """Hand on functions that share what this coroutine has, and wait."""

    def tell(what: str) -> None:
        told.append(what)

    later(tell)
    later(lambda what: told.append(what))
    await asyncio.sleep(0)
'''
REFUND = '''
class Refund:
    """Its fields in some order."""

    def __init__(self, paise: int) -> None:
        self.{first}: int = paise if "{first}" == "paise" else 0
        self.{second}: int = paise if "{second}" == "paise" else 0
'''
ASKS = '''def paise() -> int:
    """By the place of the field, not by its name."""
    return Refund(5).paise
'''
ASKED = """
import asyncio
import gc
from dataclasses import replace
import small
from gateway.at_rest.json_text import json_text
from gateway.contract.changed import changed

assert small.__file__.endswith(".so"), small.__file__
refund = small.Refund(order="ORD-1")
assert refund == small.Refund(order="ORD-1", paise=0)
assert changed(refund, paise=5) == replace(refund, paise=5) != refund
assert json_text(refund) == b'{"order":"ORD-1","paise":0,"facts":{},"value":""}'
assert small.valued(refund).value == "new"
assert small.refuse(small.Refused("no", code="rejected")) == "rejected"
assert small.refuse(small.TooLarge("no", code="rejected")) == "too_large"
told = []
asyncio.run(small.ended(True, told))
assert told == ["rejected", "at last"], told


async def left() -> int:
    gc.collect()
    gc.disable()
    await small.ended(True, told)
    functions = []
    await small.shared(told, functions.append)
    functions.pop()("lambda"), functions.pop()("def")
    return gc.collect()


assert asyncio.run(left()) == 0, gc.garbage
assert told[2:] == ["rejected", "at last", "lambda", "def"], told
print("as before")
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_what_is_compiled_behaves_as_its_source_does(tmp_path: Path) -> None:
    """Filled, compared, changed, told as JSON, an exception's method asked; and nothing is left to the garbage collector."""
    (tmp_path / "small.py").write_text(as_compiled(SOURCE, "small.py"), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "MYPYPATH": str(ROOT)}

    def run(*words: str) -> str:
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run(sys.executable, "-c", "from compiling.build import build; build()", "small.py")
    (tmp_path / "small.py").unlink()
    assert run(sys.executable, "-c", ASKED) == "as before\n"


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_a_module_that_has_changed_is_compiled_anew(tmp_path: Path) -> None:
    """Of several that are compiled together; with it, what reaches into the classes of its own."""
    (tmp_path / "refund.py").write_text(REFUND.format(first="paise", second="fee"), encoding="utf-8")
    (tmp_path / "asked.py").write_text("from refund import Refund\n\n\n" + ASKS, encoding="utf-8")

    def told() -> str:
        build = "from compiling.build import build; build()"
        for words in (["-c", build, "refund.py", "asked.py"], ["-c", "import asked; print(asked.paise())"]):
            environment = os.environ | {"PYTHONPATH": f"{tmp_path}:{ROOT}", "MYPYPATH": str(tmp_path)}
            done = subprocess.run(
                [sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr
        assert len([*tmp_path.glob("*.so")]) == 3
        return done.stdout

    assert told() == "5\n"
    (tmp_path / "refund.py").write_text(REFUND.format(first="fee", second="paise"), encoding="utf-8")
    (tmp_path / "asked.py").write_text("from refund import Refund\n\n\n" + ASKS.replace("5", "6"), encoding="utf-8")
    assert told() == "6\n"


def test_what_would_be_compiled_wrongly_is_not_written() -> None:
    """A handler waits behind its `try`; a `finally` that asks for None has no form that is right."""
    assert "caught_" in as_compiled(SOURCE, "small.py")
    asks = "def end():\n    it = None\n    try:\n        it = 1\n    finally:\n        print(it is None)\n"
    with pytest.raises(SettledError, match=r"small\.py:6"):
        as_compiled(asks, "small.py")
    with pytest.raises(RingError, match=r"small\.py:2"):
        as_compiled("def walk():\n    def down():\n        down()\n", "small.py")


def test_the_copy_is_the_tree_with_its_values_written_out(tmp_path: Path) -> None:
    """And a file that is as it was keeps its time, so that only what changed is compiled anew."""
    modules = copy(tmp_path)
    assert "gateway/contract/envelope.py" in modules
    envelope = tmp_path / "gateway/contract/envelope.py"
    assert "def __copy__(self)" in envelope.read_text(encoding="utf-8")
    assert (tmp_path / "README.md").read_bytes() == (ROOT / "README.md").read_bytes()
    assert not (tmp_path / ".git").exists()
    envelope.write_text("another", encoding="utf-8")
    before = (tmp_path / "README.md").stat().st_mtime_ns
    copy(tmp_path)
    assert (tmp_path / "README.md").stat().st_mtime_ns == before
    assert "def __copy__(self)" in envelope.read_text(encoding="utf-8")


def test_a_module_is_compiled_no_longer(tmp_path: Path) -> None:
    """What was made of it goes, for Python would take it before the source; what is still to be compiled stays."""
    copy(tmp_path)
    kept = tmp_path / "gateway/contract/envelope.cpython-311-x86_64-linux-gnu.so"
    gone = tmp_path / "gateway/fronts/http/health.cpython-311-x86_64-linux-gnu.so"
    kept.touch()
    gone.touch()
    copy(tmp_path)
    assert (kept.exists(), gone.exists()) == (True, False)


def test_what_is_compiled_as_it_stands_is_left_alone(tmp_path: Path) -> None:
    """Until a file differs, another module is to be compiled, or what was made of one is not there."""
    copy(tmp_path)
    (tmp_path / "build").mkdir()
    modules = ["gateway/contract/envelope.py"]
    made = tmp_path / "gateway/contract/envelope.cpython-311-x86_64-linux-gnu.so"
    made.touch()
    assert not is_done(tmp_path, modules)
    mark_done(tmp_path, modules)
    copy(tmp_path)
    assert is_done(tmp_path, modules)
    assert not is_done(tmp_path, [*modules, "gateway/contract/call.py"])
    (tmp_path / "README.md").write_text("another", encoding="utf-8")
    copy(tmp_path)
    assert not is_done(tmp_path, modules)
    mark_done(tmp_path, modules)
    made.unlink()
    assert not is_done(tmp_path, modules)


def test_generated_files_are_compiled_a_few_at_once(tmp_path: Path) -> None:
    """Each in one group, the same in each build; a group that is as it was keeps its time, so that nothing is linked anew."""
    generated = [tmp_path / f"__native_{number}.c" for number in range(100)]
    for path in generated:
        path.write_text("int x;", encoding="utf-8")
    groups = [Path(each) for each in grouped([str(path) for path in generated])]
    included = [line for group in groups for line in group.read_text(encoding="utf-8").splitlines()]
    assert sorted(included) == sorted(f'#include "{path.name}"' for path in generated)
    assert 1 < len(groups) < len(generated) / 4
    before = {group: (group.read_bytes(), group.stat().st_mtime_ns) for group in groups}
    generated[7].write_text("int y;" * 9, encoding="utf-8")
    assert set(grouped([str(path) for path in generated])) == set(map(str, groups))
    assert {group: (group.read_bytes(), group.stat().st_mtime_ns) for group in groups} == before
