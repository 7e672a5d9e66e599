import json
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench.scenarios.__main__ import find_target, main
from bench.scenarios.listening import Listening
from bench.scenarios.naive import Naive
from bench.scenarios.oncegate import OnceGate
from bench.scenarios.replicas import Store
from bench.scenarios.unsafe import Without


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What came of one run of the command."""

    returncode: int
    stdout: str


Scenarios = Callable[..., Ran]


@pytest.fixture
def scenarios(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Scenarios:
    """The command in this process, which has imported it and has a nursery."""

    def run(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["bench.scenarios", *arguments])
        code = main()
        return Ran(returncode=code, stdout=capsys.readouterr().out)

    return run


@pytest.mark.parametrize(
    ("named", "kind"),
    [(None, OnceGate), ("http://127.0.0.1:9000/{tool}", Listening), ("bench.scenarios.naive:Naive", Naive)],
)
def test_a_target_is_ours_a_url_or_a_class(named: str | None, kind: type) -> None:
    """Without a name it is OnceGate; a URL is somebody's that listens; anything else names a class."""
    assert isinstance(find_target(named)(), kind)


def test_a_protection_can_be_taken_out_by_name() -> None:
    """`--without` gives a gateway that starts without that part."""
    assert find_target(None, "no-hold", Store.REDIS) == Without("no-hold", Store.REDIS)


def test_both_stores_have_their_table(scenarios: Scenarios) -> None:
    """Without `--store` ours is judged on a file and on a server; the naive client is shown once."""
    ran = scenarios("--only", "S6", "--columns", "naive,plain", "--json")

    assert ran.returncode == 0
    assert [(row["gateway"], list(row["columns"])) for row in json.loads(ran.stdout)] == [
        ("Two gateway processes on one SQLite file", ["naive", "plain"]),
        ("Two gateways on one Redis", ["plain"]),
    ]


def test_the_second_table_is_read_after_the_first(scenarios: Scenarios, tmp_path: Path) -> None:
    """In text each has its heading; one store alone has one; logs are kept for each."""
    both = scenarios("--only", "S6", "--columns", "plain", "--logs", str(tmp_path / "logs"))
    one = scenarios("--only", "S6", "--columns", "plain", "--store", "redis")

    assert [line for line in both.stdout.splitlines() if line.startswith("Two")] == [
        "Two gateway processes on one SQLite file",
        "Two gateways on one Redis",
    ]
    assert "2 of 2 rows right" in both.stdout
    assert [line for line in one.stdout.splitlines() if line.startswith("Two")] == ["Two gateways on one Redis"]
    assert [(tmp_path / "logs" / store / "shared" / "ledger.sqlite").exists() for store in Store] == [True, True]


def test_a_wrong_row_ends_the_command_with_1() -> None:
    """A target that forwards everything fails in S6, in words and in the exit code."""
    command = [sys.executable, "-m", "bench.scenarios", "--target", "bench.scenarios.naive:Naive"]
    ran = subprocess.run(
        [*command, "--only", "S6", "--columns", "plain"], capture_output=True, text=True, check=False, timeout=120
    )

    assert ran.returncode == 1, ran.stderr
    assert "WRONG: 1 effects, not 0" in ran.stdout


def test_the_table_comes_as_json_too(scenarios: Scenarios) -> None:
    """One object a row, and exit code 0 when nothing that is judged is wrong."""
    ran = scenarios("--only", "S6", "--columns", "naive", "--json", "--store", "sqlite")

    assert ran.returncode == 0
    assert [(row["id"], row["columns"]["naive"]["effects"]) for row in json.loads(ran.stdout)] == [("S6", 1)]


def test_the_provider_listens_where_another_gateway_expects_it(scenarios: Scenarios) -> None:
    """With `--provider-port` the provider is at that port, and a gateway of the target's own may stand before it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    target = f"http://127.0.0.1:{port}/orders/ORD-1/refunds?{{tool}}"
    with_port = scenarios("--provider-port", port, "--target", target, "--only", "S6", "--columns", "plain")

    assert with_port.returncode == 1
    assert "told: 409" in with_port.stdout or "told: 422" in with_port.stdout
