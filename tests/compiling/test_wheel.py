"""A wheel of a small tree, really compiled, behaves as the source does."""

import os
import shutil
import subprocess
import sys
from email import message_from_string
from pathlib import Path
from sysconfig import get_config_var, get_platform
from zipfile import ZipFile

import pytest

from compiling.level import OPT_LEVEL
from gateway import __version__
from tests.compiling.small_tree import plant, plant_refund

ASKED = """
import asyncio
import gc
from dataclasses import replace
import sys
from gateway.at_rest.json_text import json_text
from gateway.contract import asked, changed as changing, quick, refund as refunds, small
from gateway.contract.changed import changed

for module in (asked, changing, quick, refunds, small):
    assert module.__file__.startswith(sys.argv[1]) and module.__file__.endswith(".so"), module.__file__
assert "mypy_extensions" not in sys.modules
assert asked.paise() == int(sys.argv[2])
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

CONTRACT = ("asked", "changed", "quick", "refund", "small")
DATA = {
    "agent_client/py.typed",
    "gateway/adapters/redis/lua/find.lua",
    "gateway/adapters/sqlite/upgrades/001_operations.sql",
    "gateway/demo/manifests/issue_refund.yaml",
    "gateway/demo/settings.json",
    "gateway/py.typed",
}


def run(folder: Path, *words: str) -> str:
    # Compiled as it is, it behaves the same; how fast it would be is asked nowhere here.
    environment = {**os.environ, OPT_LEVEL: "0"}
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_a_wheel_behaves_as_its_source_does(tmp_path: Path) -> None:
    """Nothing but the base's dependencies is needed; a module that has changed is compiled anew, with what reaches into it."""
    plant(tmp_path / "tree")
    for number, paise in enumerate((5, 6)):
        told = run(tmp_path / "tree", "-m", "compiling", "--wheel", str(tmp_path / f"dist{number}"))
        assert told.startswith("compiling 7 modules into "), told
        (wheel,) = (tmp_path / f"dist{number}").iterdir()
        site = tmp_path / f"site{number}"
        with ZipFile(wheel) as packed:
            holds_what_is_installed(wheel.name, packed)
            packed.extractall(site)
        assert run(site, "-c", ASKED, str(site), str(paise)) == "as before\n"
        plant_refund(tmp_path / "tree", paise=6, paise_first=False)


def holds_what_is_installed(name: str, packed: ZipFile) -> None:
    """What is compiled beside its source, data, and the metadata of the project; for one Python on one platform."""
    names, suffix = set(packed.namelist()), get_config_var("EXT_SUFFIX")
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = get_platform().replace("-", "_").replace(".", "_")
    assert name == f"oncegate-{__version__}-{python}-{python}-{platform}.whl"
    modules = {"at_rest/json_text", "at_rest/naming", *(f"contract/{each}" for each in CONTRACT)}
    made = {f"gateway/{module}{suffix}" for module in modules} | {f"oncegate__mypyc{suffix}"}
    assert {each for each in names if each.endswith(".so")} == made
    assert {f"gateway/{module}.py" for module in modules} | DATA <= names
    assert not {each.partition("/")[0] for each in names} - {
        *("agent_client", "gateway", f"oncegate-{__version__}.dist-info", f"oncegate__mypyc{suffix}")
    }
    metadata = message_from_string(packed.read(f"oncegate-{__version__}.dist-info/METADATA").decode())
    needed = {each for each in metadata.get_all("Requires-Dist", []) if "extra ==" not in each}
    assert {each[:5] for each in needed} == {"httpx", "pydan"}
    assert "gateway" in metadata.get_all("Provides-Extra", [])
    assert "oncegate = gateway.cli:main" in packed.read(f"oncegate-{__version__}.dist-info/entry_points.txt").decode()
