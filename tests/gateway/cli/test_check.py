"""`oncegate check`."""

import json
from pathlib import Path

import pytest

from gateway import __version__
from tests.gateway.cli.run import run

GOOD = """\
manifest: 1
name: lookup_order
version: 1.0.0
title: Look up an order
description: Read one order.
owner: orders
effect: read
arguments:
  type: object
  required: [order_id]
  properties:
    order_id: {type: string, minLength: 1}
permission: orders:read
backend:
  http:
    method: GET
    url: "${ORDERS_URL}/orders/{args.order_id}"
"""
WRITE = """\
identity: {fields: [order_id]}
unknown: {owner: orders, runbook: "https://example.com/runbook"}
holds: {order: order_id}
"""


def folder(tmp_path: Path, text: str) -> str:
    """A directory with one manifest."""
    (tmp_path / "lookup_order.yaml").write_text(text)
    return str(tmp_path)


def test_a_good_directory_is_a_yes(tmp_path: Path) -> None:
    """Exit code 0, and the names it takes for granted are said."""
    result = run("check", folder(tmp_path, GOOD))

    assert result.exit_code == 0, result.output
    assert "ORDERS_URL" in result.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--manifests", "other"], "error: DIRECTORY and --manifests name two directories; give one of them.\n"),
        (["--format", "sarif", "--json"], "error: --json and --format sarif exclude one another; give one of them.\n"),
        (["--json", "--format", "text"], "error: --json and --format text exclude one another; give one of them.\n"),
    ],
)
def test_what_cannot_both_be_meant_is_refused(tmp_path: Path, words: list[str], sentence: str) -> None:
    """Nothing is left out in silence."""
    result = run("check", folder(tmp_path, GOOD), *words)

    assert (result.exit_code, result.stderr) == (2, sentence)


def test_json_is_json_however_it_is_asked_for(tmp_path: Path) -> None:
    """By either option, or by both."""
    asked = [["--json"], ["--format", "json"], ["--format", "json", "--json"]]
    results = [run("check", folder(tmp_path, GOOD), *words) for words in asked]

    assert [json.loads(result.stdout)["ok"] for result in results] == [True] * 3


def test_a_complaint_has_file_line_and_column(tmp_path: Path) -> None:
    """An unknown field is a no, at its place."""
    result = run("check", folder(tmp_path, GOOD + "colour: red\n"))

    assert result.exit_code == 1
    assert "lookup_order.yaml:18:1: error:" in result.stdout


def test_what_the_operator_lists_is_held_against_the_manifests(tmp_path: Path) -> None:
    """With --manifest-env only those names may be used."""
    result = run("check", folder(tmp_path, GOOD), "--manifest-env", "OTHER_URL")

    assert result.exit_code == 1
    assert "ORDERS_URL" in result.stdout


def test_programs_get_json_or_sarif(tmp_path: Path) -> None:
    """--json and --format json are the same; SARIF names this version."""
    directory = folder(tmp_path, GOOD + "colour: red\n")
    short, long = run("check", directory, "--json"), run("check", directory, "--format", "json")
    sarif = run("check", directory, "--format", "sarif")

    assert json.loads(short.stdout) == json.loads(long.stdout)
    assert json.loads(short.stdout)["ok"] is False
    assert json.loads(sarif.stdout)["runs"][0]["tool"]["driver"]["version"] == __version__


def test_the_directory_of_the_settings_is_checked_by_default(tmp_path: Path) -> None:
    """Without an argument it is what `serve` would load."""
    result = run("check", environment={"ONCEGATE_MANIFESTS": folder(tmp_path, GOOD + "colour: red\n")})

    assert result.exit_code == 1
    assert "lookup_order.yaml:18:1: error:" in result.stdout


def test_strict_takes_warnings_for_a_no(tmp_path: Path) -> None:
    """A write by GET is a warning: it passes, and does not with --strict."""
    write = GOOD.replace("effect: read", "effect: write").replace("permission:", WRITE + "permission:")
    directory = folder(tmp_path, write)
    plain, strict = run("check", directory), run("check", directory, "--strict")

    assert "warning" in plain.stdout, plain.output
    assert (plain.exit_code, strict.exit_code) == (0, 1)


def test_a_directory_that_is_none_is_a_usage_error(tmp_path: Path) -> None:
    """Code 2, before anything is read."""
    assert run("check", str(tmp_path / "none")).exit_code == 2
