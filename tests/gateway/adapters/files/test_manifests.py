"""Directories of manifests."""

import json
import os
from pathlib import Path

from gateway.adapters.files.manifests import MAX_FILE_BYTES, check_directory, load_directory
from gateway.manifest.complaint import Severity
from tests.gateway.manifest.sample import KEYED, OPERATOR, PLAIN, READ, changed

ENGINE = OPERATOR.engine


def write(directory: Path, **manifests: object) -> None:
    """One file a manifest."""
    for name, manifest in manifests.items():
        (directory / f"{name}.yaml").write_text(json.dumps(manifest), encoding="utf-8")


def test_every_manifest_below_a_directory_is_loaded(tmp_path: Path) -> None:
    """Sub-directories, .yml and .json too; hidden files and other suffixes are left alone."""
    (tmp_path / "more").mkdir()
    (tmp_path / ".git").mkdir()
    write(tmp_path, act=KEYED)
    (tmp_path / "more" / "get.json").write_text(json.dumps(READ), encoding="utf-8")
    (tmp_path / "more" / "plain.yml").write_text(json.dumps(changed(PLAIN, {"name": "plain"})), encoding="utf-8")
    for name in (".git/x.yaml", ".hidden.yaml", "README.md"):
        (tmp_path / name).write_text("not: one", encoding="utf-8")
    result = load_directory(tmp_path, OPERATOR)

    assert result.catalogue is not None
    assert list(result.catalogue.tools) == ["act", "get_status", "plain"]


def test_complaints_name_the_file_below_the_directory(tmp_path: Path) -> None:
    """A bad file keeps the whole directory from loading."""
    (tmp_path / "deep").mkdir()
    write(tmp_path, act=KEYED, get=READ)
    (tmp_path / "deep" / "bad.yaml").write_text("manifest: 2\n", encoding="utf-8")
    result = load_directory(tmp_path, OPERATOR)

    assert result.catalogue is None
    assert {it.file for it in result.complaints if it.severity is Severity.ERROR} == {"deep/bad.yaml"}


def test_a_directory_that_is_not_there_is_a_complaint(tmp_path: Path) -> None:
    """And so is an empty one: a gateway without tools is a mistake in a path."""
    for path, words in ((tmp_path / "none", "no such directory"), (tmp_path, "no manifest")):
        (complaint,) = check_directory(path, {"API"}, ENGINE)
        assert words in complaint.message
        assert complaint.severity is Severity.ERROR


def test_a_file_that_is_too_large_or_a_dangling_link_is_a_complaint(tmp_path: Path) -> None:
    """Nothing is read without bound, and nothing raises."""
    (tmp_path / "large.yaml").write_bytes(b"#" * (MAX_FILE_BYTES + 1))
    (tmp_path / "gone.yaml").symlink_to(tmp_path / "nowhere")
    result = load_directory(tmp_path, OPERATOR)

    assert {it.file for it in result.complaints} == {"large.yaml", "gone.yaml"}
    assert result.catalogue is None


def test_checking_needs_names_and_no_values(tmp_path: Path) -> None:
    """Offline, without secrets: a listed name is enough, an unlisted one is a complaint."""
    write(tmp_path, act=changed(KEYED, {"backend.http.headers": {"Authorization": "Bearer ${secret:ANY}"}}), get=READ)

    assert [it for it in check_directory(tmp_path, {"API"}, ENGINE) if it.severity is Severity.ERROR] == []
    assert check_directory(tmp_path, {"API": "http://127.0.0.1:1"}, ENGINE) == check_directory(
        tmp_path, {"API"}, ENGINE
    )
    found = check_directory(tmp_path, set(), ENGINE)
    assert {it.rule for it in found if it.severity is Severity.ERROR} == {"template"}


def test_a_reload_is_compared_with_what_is_in_use(tmp_path: Path) -> None:
    """The previous catalogue comes from the caller; the directory has no memory."""
    write(tmp_path, act=KEYED, get=READ)
    before = load_directory(tmp_path, OPERATOR).catalogue
    write(tmp_path, act=changed(KEYED, {"identity.fields": ["order", "amount"]}))

    assert load_directory(tmp_path, OPERATOR, before).catalogue is None
    assert load_directory(tmp_path, OPERATOR).catalogue is not None


def test_a_pipe_is_explained_and_not_waited_for(tmp_path: Path) -> None:
    """A FIFO named *.yaml would stop the loader, and with it a gateway that reloads, for ever."""
    write(tmp_path, get=READ)
    os.mkfifo(tmp_path / "x.yaml")
    result = load_directory(tmp_path, OPERATOR)

    assert result.catalogue is None
    assert [(it.file, it.message) for it in result.complaints] == [("x.yaml", "this is not a regular file")]
