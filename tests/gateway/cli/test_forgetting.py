"""`oncegate operations forget`, at the store."""

from pathlib import Path

import pytest

from gateway.cli.exits import Failure
from gateway.cli.forgetting import forget_bodies
from gateway.settings import Settings
from tests.gateway.cli.run import run


@pytest.mark.parametrize("store", ["memory://", "sqlite:///none.db"])
def test_a_store_that_is_not_there_forgets_nothing(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store in memory, or a file that does not exist, is told as such, and none is created."""
    monkeypatch.chdir(tmp_path)

    with pytest.raises(Failure) as refused:
        forget_bodies(Settings(store=store), "01JOP")

    assert refused.value.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_another_program_is_left_alone(tmp_path: Path) -> None:
    """What is no store of ours is refused in a sentence."""
    (tmp_path / "other.db").write_bytes(b"not a database, but long enough to be looked at as one" * 20)
    result = run("operations", "forget", "01JOP", "--yes", "--store", f"sqlite:///{tmp_path}/other.db")

    assert result.exit_code == 2
    assert result.stderr.startswith("error: the store cannot be used")
