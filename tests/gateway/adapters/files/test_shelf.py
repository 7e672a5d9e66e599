"""The tools in use: one catalogue at a time, swapped whole."""

import json
from pathlib import Path

import pytest

from gateway.adapters.files.shelf import Shelf
from tests.gateway.manifest.sample import KEYED, OPERATOR, PLAIN, READ, changed


def write(directory: Path, **manifests: object) -> None:
    """One file a manifest."""
    for name, manifest in manifests.items():
        (directory / f"{name}.yaml").write_text(json.dumps(manifest), encoding="utf-8")


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """A shelf with a write and its look-up."""
    write(tmp_path, act=KEYED, get=READ)
    return Shelf(tmp_path, OPERATOR)


def test_a_directory_that_does_not_load_makes_no_shelf(tmp_path: Path) -> None:
    """The message has every complaint, with file, line and column, and no warning among them."""
    write(
        tmp_path,
        get=READ,
        one=changed(PLAIN, {"effect": "wrong"}),
        two=changed(PLAIN, {"name": "b", "effect": "wrong"}),
    )
    with pytest.raises(ValueError, match="cannot be used") as refused:
        Shelf(tmp_path, OPERATOR)

    lines = str(refused.value).splitlines()[1:]
    assert [line.split(":")[0] for line in lines] == ["one.yaml", "two.yaml"]
    assert all(part.isdigit() for line in lines for part in line.split(":")[1:3])


def test_a_changed_directory_is_taken_whole(shelf: Shelf, tmp_path: Path) -> None:
    """Tools come, change and go at once; whoever has the old catalogue goes on with it."""
    before = shelf.catalogue
    write(tmp_path, act=changed(KEYED, {"version": "1.1.0"}), other=changed(PLAIN, {"name": "other"}))

    assert shelf.reload()
    assert set(shelf.catalogue.tools) == {"act", "get_status", "other"}
    assert (before.tools["act"].version, shelf.catalogue.tools["act"].version) == ("1.0.0", "1.1.0")
    assert "other" not in before.tools

    (tmp_path / "other.yaml").unlink()

    assert shelf.reload()
    assert "other" not in shelf.catalogue.tools


def test_a_bad_file_keeps_the_old_catalogue(shelf: Shelf, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing is half taken: the good file beside it waits too, and the log has the place."""
    before = shelf.catalogue
    write(tmp_path, act=changed(KEYED, {"version": "1.1.0"}), other=changed(PLAIN, {"effect": "wrong"}))

    assert not shelf.reload()
    assert shelf.catalogue is before
    assert "other.yaml:" in caplog.text


def test_a_changed_identity_needs_a_raised_revision(shelf: Shelf, tmp_path: Path) -> None:
    """Records are there under the old keys: what is loaded anew is held against what is in use."""
    before = shelf.catalogue
    write(tmp_path, act=changed(KEYED, {"identity.fields": ["order", "amount"]}))

    assert not shelf.reload()
    assert shelf.catalogue is before

    write(tmp_path, act=changed(KEYED, {"identity.fields": ["order", "amount"], "identity.revision": 2}))

    assert shelf.reload()


def test_a_pinned_manifest_is_compiled_with_this_operators_values(shelf: Shelf) -> None:
    """It is the tool it was, or nothing when it cannot be one any more."""
    tool = shelf.catalogue.tools["act"]
    again = shelf.compile(tool.canonical)

    assert again is not None
    assert (again.digest, again.backend.origin) == (tool.digest, tool.backend.origin)
    assert shelf.compile(b'{"manifest": 1}') is None
