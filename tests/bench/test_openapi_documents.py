"""The table of documents counts what an import gives, and reads archives without unpacking them."""

import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from bench import openapi_documents
from bench.openapi_documents import NotFetchedError, Source, imported, main, read_member, table_row
from tests.gateway.manifest.openapi.shop import document

SHOP = Source(title="Shop", ecosystem="npm", package="@shop/api", version="1.0.0", file="package/shop.json")
UPLOAD = {"operationId": "upload", "requestBody": {"content": {"multipart/form-data": {}}}}


def test_a_row_counts_what_becomes_of_each_operation() -> None:
    """What loads, what waits, what is refused and why, without places."""
    value = document(
        paths={**document()["paths"], "/a": {"post": UPLOAD}, "/b": {"put": {**UPLOAD, "operationId": "b"}}}
    )
    result, examples = imported(SHOP, json.dumps(value).encode())

    assert table_row(SHOP, result.rows, examples) == (
        "| Shop | `@shop/api` 1.0.0 | 4 | 1 | 1 | 0 | - | 2 | 2: its body is multipart/form-data; JSON and URL-encoded forms are"
        " sent |"
    )


def test_a_file_is_read_out_of_a_tarball_and_a_wheel(tmp_path: Path) -> None:
    """By its name; another name is an error that says so."""
    content = b"{}"
    with tarfile.open(tmp_path / "shop.tgz", "w:gz") as tarball:
        member = tarfile.TarInfo("package/shop.json")
        member.size = len(content)
        tarball.addfile(member, io.BytesIO(content))
    with zipfile.ZipFile(tmp_path / "shop.whl", "w") as wheel:
        wheel.writestr("package/shop.json", content)

    for archive in ("shop.tgz", "shop.whl"):
        assert read_member(tmp_path / archive, SHOP.file) == content
        with pytest.raises(NotFetchedError, match="has no file other"):
            read_member(tmp_path / archive, "other")


def test_the_table_goes_between_its_marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest of the page stays; a page without marks is left alone."""
    page = tmp_path / "page.md"
    page.write_text(f"a\n{openapi_documents.BEGIN}\nold\n{openapi_documents.END}\nb\n")
    monkeypatch.setattr(openapi_documents, "PAGE", page)
    openapi_documents.write_page("| new |")

    assert page.read_text() == f"a\n{openapi_documents.BEGIN}\n| new |\n{openapi_documents.END}\nb\n"
    page.write_text("no marks")
    with pytest.raises(SystemExit):
        openapi_documents.write_page("| new |")


@pytest.mark.parametrize("words", [["--only", "none"], ["--write", "--only", "Figma"]])
def test_wrong_words_are_usage_errors(words: list[str]) -> None:
    """Nothing is fetched."""
    with pytest.raises(SystemExit) as left:
        main(words)

    assert left.value.code == 2


def test_ten_documents_at_least_are_tried_each_at_a_pinned_version() -> None:
    """Of several packages and both ecosystems."""
    sources = openapi_documents.SOURCES

    assert len({source.title for source in sources}) == len(sources) >= 10
    assert {source.ecosystem for source in sources} == {"pip", "npm"}
    assert len({(source.package, source.version) for source in sources}) == len({it.package for it in sources})
