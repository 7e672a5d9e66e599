"""What the pages say of commands, routes and codes, against commands, routes and codes."""

import json
import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest

from gateway.adapters.files.keys import KeyFile
from gateway.cli.exits import Exit
from gateway.cli.group import COMMANDS
from gateway.fronts.http.openapi import document
from tests.gateway.cli.run import run

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_every_command_is_on_the_page() -> None:
    """The table of docs/cli.md is the table of commands."""
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `([a-z]+)", page, re.MULTILINE))

    assert named == set(COMMANDS)


def test_every_exit_code_is_on_the_page() -> None:
    """Its codes are those of the program."""
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")

    assert {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)} == {code.value for code in Exit}


def leaves(command: click.Command, name: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, by its words."""
    if isinstance(command, click.Group):
        for word, inner in command.commands.items():
            yield from leaves(inner, f"{name} {word}")
    else:
        yield name.strip(), command


def test_every_command_without_json_is_on_the_page() -> None:
    """The page names those that take no `--json`, and no other."""
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    commands = [leaf for name, (module, _) in COMMANDS.items() for leaf in leaves(import_module(module).command, name)]
    without = {name for name, it in commands if not any("--json" in parameter.opts for parameter in it.params)}
    sentence = page.partition("`--json` makes")[2].partition("\n\n")[0]

    assert set(re.findall(r"`([a-z ]+)`", sentence)) == without


def test_the_key_of_the_page_may_make_the_call_of_the_page(tmp_path: Path) -> None:
    """`keys create` of docs/cli.md grants what the rules of the manifest ask of the call above it."""
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    create = page[page.index("oncegate keys create") :].partition("\n```")[0].replace("\\\n", " ")
    words = shlex.split(create.replace("keys.json", str(tmp_path / "keys.json")))[1:]
    key = json.loads(run(*words).stdout)["key"]
    caller = KeyFile(tmp_path / "keys.json").authenticate(key)
    manifest = (ROOT / "tool_manifests" / "issue_refund.yaml").read_text(encoding="utf-8")
    called = re.search(r"call issue_refund .*amount_paise:=(\d+)", page)

    assert caller is not None
    assert called is not None
    assert caller.permissions == set(re.findall(r"^permission: (\S+)", manifest, re.MULTILINE))
    assert set(caller.attributes) == set(re.findall(r"caller\.attributes\.(\w+)", manifest))
    assert int(called[1]) <= caller.attributes["max_refund_paise"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_ends_with_its_last_line(page: Path) -> None:
    """One line's end, and nothing after it."""
    text = page.read_text(encoding="utf-8")

    assert text == text.rstrip() + "\n"


def test_every_route_is_on_the_page() -> None:
    """docs/http.md names each path that is served, with its method where it is under /v1."""
    page = (ROOT / "docs" / "http.md").read_text(encoding="utf-8")
    paths = document()["paths"]
    wanted = [
        f"{method.upper()} {path.replace('operation_id', 'id').replace('approval_id', 'id')}"
        if path.startswith("/v1")
        else path
        for path, item in paths.items()
        for method in item
        if method in {"get", "post"}
    ]

    assert [
        route for route in wanted if f"`{route}`" not in page and f"`{route.removeprefix('GET ')}`" not in page
    ] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    """Links to files of this repository name files that are there."""
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))

    assert [target for target in targets if not (page.parent / target).exists()] == []
