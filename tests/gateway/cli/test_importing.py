"""`oncegate import openapi`."""

import json
from pathlib import Path

import pytest

from tests.gateway.cli.run import run
from tests.gateway.manifest.openapi.shop import document

ANSWERS = """\
identity: {fields: [orderId]}
holds: {order: orderId}
unknown: {owner: payments, runbook: "https://runbooks.example/refund"}
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """The shop's document in a file."""
    file = tmp_path / "shop api.json"
    file.write_text(json.dumps(document(), indent=1))
    return file


def test_without_out_nothing_is_written(shop: Path) -> None:
    """The table says what would be."""
    result = run("import", "openapi", str(shop))

    assert result.exit_code == 0, result.output
    assert "1 pass `oncegate check`, 1 wait for a decision, 0 refused" in result.stdout
    assert "decide: identity, how an unknown outcome is settled" in result.stdout
    assert [path.name for path in shop.parent.iterdir()] == [shop.name]


def test_a_read_is_ready_and_a_write_when_its_questions_are_answered(shop: Path, tmp_path: Path) -> None:
    """From the document to a directory that loads, by `oncegate check`."""
    out = tmp_path / "tools"
    written = run("import", "openapi", str(shop), "--out", str(out), "--owner", "payments")
    asked = run("check", str(out))
    draft = out / "createRefund.yaml"
    draft.write_text(draft.read_text().replace("identity: ", "", 0) + ANSWERS)
    answered = run("check", str(out))

    assert written.exit_code == 0, written.output
    assert sorted(path.relative_to(out).as_posix() for path in out.rglob("*.*")) == [
        "createRefund.yaml",
        "listRefunds.yaml",
        "openapi/shop-api.json",
    ]
    assert asked.exit_code == 1
    assert "a write needs `identity`" in asked.stdout
    assert answered.exit_code == 0, answered.output
    assert "SHOP_API_URL" in answered.stderr


def test_programs_get_json(shop: Path, tmp_path: Path) -> None:
    """Each operation with what became of it, and the files."""
    out = tmp_path / "tools"
    result = run("import", "openapi", str(shop), "--only", "listRefunds", "--out", str(out), "--json")
    said = json.loads(result.stdout)

    assert said["ok"] is True
    assert [row["tool"] for row in said["operations"]] == ["listRefunds"]
    assert said["written"] == [str(out / "openapi/shop-api.json"), str(out / "listRefunds.yaml")]


def test_what_differs_is_never_overwritten(shop: Path, tmp_path: Path) -> None:
    """The same import again changes nothing; a draft that somebody edited stays."""
    out = tmp_path / "tools"
    first = run("import", "openapi", str(shop), "--out", str(out))
    again = run("import", "openapi", str(shop), "--out", str(out))
    (out / "listRefunds.yaml").write_text("mine")
    refused = run("import", "openapi", str(shop), "--out", str(out))

    assert (first.exit_code, again.exit_code, refused.exit_code) == (0, 0, 2)
    assert "listRefunds.yaml is there already and differs" in refused.stderr
    assert (out / "listRefunds.yaml").read_text() == "mine"


def test_the_operators_names_can_be_chosen(shop: Path, tmp_path: Path) -> None:
    """`--prefix` is that of the address and of the secrets."""
    out = tmp_path / "tools"
    run("import", "openapi", str(shop), "--out", str(out), "--prefix", "pay-2", "--owner", "payments")
    text = (out / "listRefunds.yaml").read_text()

    assert "${PAY_2_URL}" in text
    assert 'owner: "payments"' in text


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"swagger": "2.0"}', "this is Swagger 2.0; convert it to OpenAPI 3.0 first ({file}:1:2)."),
        ('{"a" 1}', "the document is not JSON"),
        ("[]", "the document is not an object"),
    ],
)
def test_a_document_that_cannot_be_used_is_a_no_in_one_sentence(tmp_path: Path, content: str, words: str) -> None:
    """With its place."""
    file = tmp_path / "a.json"
    file.write_text(content)
    result = run("import", "openapi", str(file))

    assert result.exit_code == 1
    assert words.replace("{file}", str(file)) in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_document_of_which_nothing_can_be_imported_is_a_no(tmp_path: Path) -> None:
    """The reasons are in the table."""
    file = tmp_path / "a.json"
    file.write_text(json.dumps(document(paths={"/a": {"trace": {}}})))
    result = run("import", "openapi", str(file))

    assert result.exit_code == 1
    assert f"TRACE is no call of a tool ({file}:" in result.stdout
    assert result.stderr == ""


def test_it_ends_with_the_next_step(shop: Path, tmp_path: Path) -> None:
    """Without --out how to write the drafts; with it the variable to set and the check that follows."""
    out = tmp_path / "tools"
    shown = run("import", "openapi", str(shop))
    written = run("import", "openapi", str(shop), "--out", str(out))

    assert shown.stderr == f"nothing was written; next: oncegate import openapi '{shop}' --out tool_manifests\n"
    assert "set SHOP_API_URL to the service's address" in written.stderr
    assert written.stderr.endswith(f"  oncegate check {out} --manifest-env SHOP_API_URL\n")


def test_wrong_words_are_usage_errors(shop: Path) -> None:
    """Before anything is read."""
    assert run("import", "openapi", str(shop), "--owner", "a b").exit_code == 2
    assert run("import", "openapi", "none.json").exit_code == 2
    assert run("import", "openapi", str(shop), "--only", "none").exit_code == 1
