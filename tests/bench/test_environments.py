"""Environments of their own: made once, and a failure is one sentence."""

import asyncio
import sys
from pathlib import Path

import pytest

from bench.environments import NotInstalledError, install, side_by_side
from tests.waiting import turns


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of this test's own, with an installer that is a script."""
    monkeypatch.chdir(tmp_path)
    installer = tmp_path / "build" / "clients" / "uv" / "bin" / "uv"
    installer.parent.mkdir(parents=True)
    return installer


def says(installer: Path, script: str) -> None:
    """What it does instead of installing."""
    installer.write_text(f"#!{sys.executable}\n{script}\n", encoding="utf-8")
    installer.chmod(0o755)


def test_what_is_there_is_not_made_again(home: Path) -> None:
    """The installer is asked once; its cache is in the tree."""
    says(home, "import os, sys; open('asked', 'a').write(f\"{os.environ['UV_CACHE_DIR']} {sys.argv[-1]}\\n\")")

    asyncio.run(install({"a": ["a==1"]}))
    asyncio.run(install({"a": ["a==1"]}))

    cache = Path("build/clients/cache").resolve()
    assert Path("asked").read_text(encoding="utf-8") == f"{cache} a==1\n"
    assert Path("build/clients/a/bin/python").exists()


def test_a_registry_out_of_reach_is_one_sentence(home: Path) -> None:
    """With what was wanted and what the installer said; the next try begins anew."""
    says(home, "import sys; print('no route\\n  to the index', file=sys.stderr); sys.exit(2)")

    with pytest.raises(NotInstalledError, match=r"^a==1 cannot be installed: no route to the index$"):
        asyncio.run(install({"a": ["a==1"]}))

    assert not Path("build/clients/a/installed").exists()


def test_what_runs_side_by_side_has_ended_when_one_of_it_fails() -> None:
    """Nothing is left running, and the first failure is told."""
    ended: list[str] = []

    async def fails() -> str:
        raise NotInstalledError("a==1")

    async def works() -> str:
        await turns()
        ended.append("b")
        return "b"

    with pytest.raises(NotInstalledError, match="a==1"):
        asyncio.run(side_by_side([fails(), works()]))

    assert ended == ["b"]
    assert asyncio.run(side_by_side([works(), works()])) == ["b", "b"]
