"""`oncegate serve`: the line it prints, and what keeps it from starting."""

import json
import socket

import pytest

from gateway.cli.exits import Failure
from gateway.cli.serve import announce, serve
from gateway.fronts.http.build import build
from gateway.settings import Settings
from tests.gateway.cli.run import run
from tests.gateway.fronts.http.fake_core import FakeCore, Keys


def test_the_line_is_for_people_or_programs(capsys: pytest.CaptureFixture[str]) -> None:
    """One line with the address; IPv6 in brackets; JSON with --json."""
    announce("127.0.0.1", 8080, as_json=False)
    announce("::1", 8080, as_json=False)
    announce("127.0.0.1", 8080, as_json=True)

    text, six, document = capsys.readouterr().out.splitlines()
    assert text == "oncegate listening on http://127.0.0.1:8080"
    assert six == "oncegate listening on http://[::1]:8080"
    assert json.loads(document)["url"] == "http://127.0.0.1:8080"


def serve_core(core: FakeCore, settings: Settings) -> None:
    """`serve` around a core of the test."""
    serve(build(core, Keys(), settings), core, settings, reload=lambda: None, as_json=False)


def test_a_taken_port_is_a_sentence() -> None:
    """Code 2, with address and reason."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        settings = Settings(port=taken.getsockname()[1])
        with pytest.raises(Failure, match=r"cannot listen on 127\.0\.0\.1 port \d+: Address already in use") as refused:
            serve_core(FakeCore(), settings)

    assert refused.value.exit_code == 2


def test_a_core_that_does_not_start_is_a_no() -> None:
    """The log says why; the exit code is 1 and no line says that calls may come."""

    class Broken(FakeCore):
        async def start(self) -> None:
            raise RuntimeError("planted")

    with pytest.raises(Failure, match="did not start") as refused:
        serve_core(Broken(), Settings(port=0))

    assert refused.value.exit_code == 1


def test_a_setting_that_cannot_be_used_stops_before_anything_is_opened() -> None:
    """Code 2, and the sentence names the option."""
    result = run("serve", "--store", "postgres://localhost")

    assert result.exit_code == 2
    assert result.stderr.startswith("error: --store cannot be used")
