"""Documents are files of one folder, and nothing else can be read."""

import os
from pathlib import Path

import pytest

from gateway.adapters.cel.engine import CelEngine
from gateway.adapters.files.documents import DocumentFolder
from gateway.adapters.files.manifests import check_directory
from gateway.manifest.openapi.document import MAX_BYTES


def test_a_file_is_read_by_its_name(tmp_path: Path) -> None:
    """Those in folders below, too."""
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "a.json").write_bytes(b"{}")
    folder = DocumentFolder(tmp_path)

    assert dict(folder) == {"openapi/more/a.json": b"{}"}
    assert len(folder) == 1


@pytest.mark.parametrize(
    "name", ["openapi/../secret", "openapi/link", "openapi/pipe", "openapi/none", "openapi/", "secret", "openapi/\0"]
)
def test_nothing_outside_is_read(tmp_path: Path, name: str) -> None:
    """Neither by `..` nor through a link; and no pipe, which would wait for ever."""
    (tmp_path / "secret").write_text("s")
    folder = tmp_path / "openapi"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(folder / "pipe")

    assert name not in DocumentFolder(folder)


def test_no_more_is_read_than_is_needed_to_refuse_it(tmp_path: Path) -> None:
    """A file that is too large is told as such by its parser."""
    with (tmp_path / "a").open("wb") as file:
        file.truncate(MAX_BYTES * 2)

    assert len(DocumentFolder(tmp_path)["openapi/a"]) == MAX_BYTES + 1


def test_a_folder_that_is_not_there_has_nothing(tmp_path: Path) -> None:
    """Most manifest directories have no documents."""
    assert list(DocumentFolder(tmp_path / "none")) == []


def test_documents_are_no_manifests(tmp_path: Path) -> None:
    """The folder is left out where manifests are read."""
    (tmp_path / "openapi").mkdir()
    (tmp_path / "openapi" / "shop.json").write_text("{}")

    complaints = check_directory(tmp_path, (), CelEngine())

    assert [it.message for it in complaints] == ["there is no manifest in this directory (*.yaml, *.yml, *.json)"]
