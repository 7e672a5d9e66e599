"""What the walk-throughs of the docs make is not committed by accident, and nothing of ours is hidden."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MADE = [
    "keys.json",
    ".keys.json.lock",
    ".keys.json.x1y2",
    "oncegate-keys.json",
    ".oncegate-keys.json.lock",
    "oncegate.db",
    "oncegate.db-wal",
    "oncegate.db-shm",
    "oncegate.db-journal",
    "oncegate.db-limits",
    "oncegate.db-limits-wal",
    "oncegate.db-limits-journal",
    "oncegate.db-breakers",
    "oncegate.db-breakers-wal",
    "runs.db",
    "ledger.sqlite",
    "ledger.sqlite-wal",
    "ledger.sqlite-journal",
    "ledger.json",
    "provider.log",
    "gateway.log",
    "waiting.txt",
    "end.txt",
    "certificate.json",
]
OURS = ("gateway", "agent_client", "tests", "docs", "examples", "tool_manifests", "bench", ".ci")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """An empty one with our rules, so that what is tracked here changes no answer."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_bytes((ROOT / ".gitignore").read_bytes())
    return tmp_path


def ignored(repository: Path, paths: list[str]) -> list[str]:
    """Those of the paths that git would not see."""
    asked = subprocess.run(
        ["git", "-C", str(repository), "check-ignore", "--stdin"],
        input="\n".join(paths),
        capture_output=True,
        text=True,
        check=False,
    )
    return asked.stdout.splitlines()


def test_what_a_walk_through_makes_is_ignored(repository: Path) -> None:
    """Keys, stores with the files beside them, ledgers and logs."""
    assert ignored(repository, MADE) == MADE


def test_no_source_is_ignored(repository: Path) -> None:
    """Nothing below our folders but what Python and its tools leave there."""
    files = [str(file.relative_to(ROOT)) for folder in OURS for file in (ROOT / folder).rglob("*") if file.is_file()]
    left = [name for name in ignored(repository, files) if "cache" not in name]

    assert left == []
