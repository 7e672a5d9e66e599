"""The page about OpenAPI documents shows what the commands do."""

import re
from pathlib import Path

import pytest

from bench.openapi_documents import BEGIN, END, HEAD, SOURCES
from tests.gateway.cli.run import run

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "openapi.md").read_text(encoding="utf-8")


def block(kind: str, number: int) -> str:
    """One block of the page."""
    found: list[str] = re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)
    return found[number]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the page's document."""
    (tmp_path / "shop.yaml").write_text(block("yaml", 0))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines_of(text: str) -> list[str]:
    """Without the spaces that align columns."""
    return [" ".join(line.split()) for line in text.splitlines()]


def test_the_import_prints_what_the_page_says(site: Path) -> None:
    """Table, counts, and places in the document."""
    command, *printed = block("text", 0).splitlines()
    result = run(*command.removeprefix("$ oncegate ").split())

    assert result.exit_code == 0, result.output
    assert lines_of(result.stdout) == lines_of("\n".join(printed))
    assert (site / "tool_manifests" / "openapi" / "shop.yaml").is_file()


def test_the_draft_loads_with_the_answers_of_the_page(site: Path) -> None:
    """Its questions are those of the page, too."""
    run(*block("text", 0).splitlines()[0].removeprefix("$ oncegate ").split())
    questions, answers = block("yaml", 1).split("DRAFT\n")
    draft = site / "tool_manifests" / "createRefund.yaml"
    text = draft.read_text()
    draft.write_text(text + answers)
    checked = run("check", "tool_manifests")

    assert text.startswith(questions)
    assert checked.exit_code == 0, checked.output
    assert "${SHOP_URL}" in text
    assert "${secret:SHOP_TOKEN}" in text


def test_every_command_of_the_page_runs(site: Path) -> None:
    """In the order in which it has them; the last one says what is still to decide."""
    words = [line.partition("#")[0].split()[1:] for line in block("", 0).splitlines()]
    results = [run(*line) for line in words]

    assert [result.exit_code for result in results] == [0, 0, 1]
    assert "a write needs `identity`" in results[-1].stdout
    assert (site / "tool_manifests" / "listRefunds.yaml").is_file()


def test_the_table_has_every_document_that_is_tried() -> None:
    """At the pinned version, each with figures."""
    table = PAGE.partition(BEGIN)[2].partition(END)[0].strip()
    rows = table.removeprefix(HEAD).strip().splitlines()

    assert table.startswith(HEAD)
    assert [row.split(" | ")[:2] for row in rows] == [
        [f"| {source.title}", f"`{source.package}` {source.version}"] for source in SOURCES
    ]
    assert all(int(row.split(" | ")[3]) + int(row.split(" | ")[4]) > 0 for row in rows)
