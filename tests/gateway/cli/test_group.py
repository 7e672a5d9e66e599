"""The command line as a whole."""

import importlib
import os
import platform
import subprocess
import sys
from pathlib import Path

import click
import pytest

from agent_client.extras import installing
from gateway import __version__
from gateway.cli.group import COMMANDS
from tests.gateway.cli.run import run

ROOT = Path(__file__).parents[3]
# What costs more than the rest of start-up together.
HEAVY = (
    "httpx",
    "pydantic",
    "starlette",
    "uvicorn",
    "apsw",
    "orjson",
    "opentelemetry",
    "cel_expr_python",
    "cryptography",
)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str) -> None:
    """Each entry of the table is a command, with a help worth reading."""
    command = importlib.import_module(COMMANDS[name][0]).command
    helped = run(name, "--help")

    assert isinstance(command, click.Command)
    assert helped.exit_code == 0
    assert helped.stdout.startswith(f"Usage: oncegate {name}")
    assert len(helped.stdout.splitlines()) > 5


def test_help_lists_commands_and_exit_codes() -> None:
    """`oncegate --help` shows the table, examples, and what exit codes mean."""
    helped = run("--help")

    assert [name for name in COMMANDS if f"\n  {name} " not in helped.stdout] == []
    assert "oncegate check tool_manifests" in helped.stdout
    assert "oncegate serve --manifests tool_manifests --manifest-env PAYMENTS_URL" in helped.stdout
    assert "4 outcome unknown" in " ".join(helped.stdout.split())


def test_help_loads_no_command() -> None:
    """`oncegate --help` imports nothing heavy: it is there at once."""
    code = f"import sys; from gateway.cli.group import oncegate; print([m for m in {HEAVY!r} if m in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert printed.stdout.strip() == "[]"


def test_a_command_that_is_none() -> None:
    """A misspelt command is a usage error, with code 2."""
    result = run("serv")

    assert result.exit_code == 2
    assert "No such command 'serv'; did you mean `serve`?" in result.stderr
    assert "No such command 'xyz'." in run("xyz").stderr


def test_what_is_typed_for_help_and_version_is_understood() -> None:
    """`help`, also of a command in a group, and `--version`."""
    for words in ((), ("serve",), ("keys", "create")):
        assert run("help", *words).stdout == run(*words, "--help").stdout != ""
    assert run("--version").stdout == run("version").stdout


def test_a_fault_is_a_sentence_unless_asked_otherwise() -> None:
    """A fault of ours exits with 70 and one line; ONCEGATE_DEBUG shows the traceback."""
    code = (
        "import sys, gateway.cli.group as g\n"
        "g.oncegate.add_command = None\n"
        "g.COMMANDS = {'version': ('json', '')}\n"
        "g.main(['version'])"
    )
    quiet = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env={})
    loud = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env={"ONCEGATE_DEBUG": "1"}
    )

    assert (quiet.returncode, len(quiet.stderr.splitlines())) == (70, 1)
    assert quiet.stderr.startswith("error: AttributeError")
    assert "Traceback" in loud.stderr


def test_the_module_is_the_command() -> None:
    """`python -m gateway` is `oncegate`."""
    printed = subprocess.run([sys.executable, "-m", "gateway", "version"], capture_output=True, text=True, check=True)

    assert printed.stdout.startswith("oncegate ")


@pytest.mark.parametrize(
    ("missing", "words"), [("click", ["--help"]), ("orjson", ["check", "."]), ("redis", ["serve"])]
)
def test_what_is_not_installed_is_named_with_what_installs_it(missing: str, words: list[str], tmp_path: Path) -> None:
    """The base is the client alone: without the extra, or part of it, a command ends with a sentence and code 2."""
    code = f"import sys; sys.modules[{missing!r}] = None; from gateway.cli import main; main({words!r})"
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "ONCEGATE_MANIFESTS": str(ROOT / "tool_manifests"),
            "ONCEGATE_STORE": "redis://127.0.0.1:1",
            "ONCEGATE_MANIFEST_ENV": "PAYMENTS_URL",
            "PAYMENTS_URL": "http://127.0.0.1:1",
        },
    )

    assert (ended.returncode, ended.stderr.splitlines()[-1]) == (
        2,
        f"error: {missing} is not installed: {installing('gateway')}",
    )


def test_the_version_of_the_client_alone_is_told() -> None:
    """Whoever installed only the base can say what it is."""
    code = "import sys; sys.modules['click'] = None; from gateway.cli import main; main(['version'])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ended.stdout == f"oncegate {__version__} (Python {platform.python_version()}, the client alone)\n"
