"""`oncegate serve`: the line it prints, and what keeps it from starting."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from gateway.adapters.files.keys import create_key
from gateway.app import Gateway, assemble
from gateway.cli.exits import Failure
from gateway.cli.serve import announce, serve, watched
from gateway.contract.requests import StartRefusedError
from gateway.fronts.build import build
from gateway.settings import Settings
from tests.gateway.cli.run import run
from tests.gateway.fronts.http.fake_core import FakeCore, Keys
from tests.gateway.pipeline.rig import read


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
    front = build(core, Keys(), settings)
    serve(front, core, settings, reload=lambda: None, files=watched(settings), as_json=False)


@pytest.fixture
def taken() -> Iterator[int]:
    """A port on which somebody else listens."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening.getsockname()[1]


def test_a_taken_port_is_a_sentence(taken: int) -> None:
    """Code 2, with address, reason, and the way out."""
    with pytest.raises(Failure, match=r"cannot listen on 127\.0\.0\.1 port \d+: Address already in use") as refused:
        serve_core(FakeCore(), Settings(port=taken))

    assert refused.value.exit_code == 2
    assert refused.value.message.endswith("in use. Give another with --port; 0 takes a free one.")


def test_another_port_is_no_way_out_of_an_address_that_is_not_ours() -> None:
    """The advice stands only where it helps."""
    with pytest.raises(Failure, match=r"cannot listen on 192\.0\.2\.1 port 0: [^.]+\.$"):
        serve_core(FakeCore(), Settings(host="192.0.2.1", port=0))


@pytest.mark.parametrize(("level", "lines"), [("info", 1), ("warning", 0)])
def test_no_less_severe_record_is_written_than_asked_for(level: str, lines: int, taken: int, tmp_path: Path) -> None:
    """`log_level` holds from the first record on, which tells what is in use."""
    (tmp_path / "get_status.yaml").write_text(json.dumps(read()))
    words = ["--manifests", str(tmp_path), "--manifest-env", "API", "--store", "memory://", "--port", str(taken)]
    ended = subprocess.run(
        [sys.executable, "-m", "gateway", "serve", *words, "--log-level", level],
        env={**os.environ, "API": "http://127.0.0.1:9"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.count("1 tools, 0 API keys, store memory://") == lines


def test_a_variable_that_is_no_setting_is_a_warning(taken: int, tmp_path: Path) -> None:
    """In the log, before anything else is: a misspelt setting is not taken in silence."""
    words = ["--manifests", str(tmp_path), "--store", "memory://", "--port", str(taken)]
    ended = subprocess.run(
        [sys.executable, "-m", "gateway", "serve", *words],
        env={**os.environ, "ONCEGATE_PROT": "3"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    first = json.loads(ended.stderr.splitlines()[0])

    assert (first["level"], first["message"]) == (
        "warning",
        "there is no setting ONCEGATE_PROT; did you mean ONCEGATE_PORT?",
    )


def test_serving_rids_enumerations_of_their_detour(tmp_path: Path) -> None:
    """In its own process only: nothing that merely imports the gateway changes what Python does."""
    asked = """
import enum
from gateway.cli import main
before = "__getattr__" in vars(enum.EnumType)
try:
    main()
except SystemExit as stopped:
    print(stopped.code, before, "__getattr__" in vars(enum.EnumType))
"""
    words = ["serve", "--manifests", str(tmp_path / "nowhere")]
    ended = subprocess.run(
        [sys.executable, "-c", asked, *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert ended.stdout == f"2 {sys.version_info < (3, 12)} False\n", ended.stderr


@pytest.mark.parametrize("name", ["manifests", "keys", "issuers"])
def test_every_file_that_can_be_taken_anew_is_watched(name: str, tmp_path: Path) -> None:
    """A change of `manifests`, of `keys` or of `issuers` is noticed, once."""
    paths = {each: tmp_path / each for each in ("manifests", "keys", "issuers")}
    seen = watched(Settings.model_validate(paths))
    before = seen.changed()
    paths[name].write_text("a")

    assert (before, seen.changed(), seen.changed()) == (False, True, False)


def test_a_core_that_does_not_start_is_a_no() -> None:
    """The log says why; the exit code is 1 and no line says that calls may come."""

    class Broken(FakeCore):
        async def start(self) -> None:
            raise RuntimeError("planted")

    with pytest.raises(Failure, match="did not start") as refused:
        serve_core(Broken(), Settings(port=0))

    assert refused.value.exit_code == 1


@pytest.mark.parametrize("reason", ["act: raise identity.revision above 1.", "it evicts"])
def test_what_must_not_be_served_is_told_where_the_command_ends(reason: str) -> None:
    """A store or a manifest that must not be used is a matter of configuration: code 2, and the reason beside it."""

    class Unfit(FakeCore):
        async def start(self) -> None:
            raise StartRefusedError(reason)

    with pytest.raises(Failure) as refused:
        serve_core(Unfit(), Settings(port=0))

    assert refused.value.message == f"the gateway does not start: {reason.removesuffix('.')}."
    assert refused.value.exit_code == 2


def test_a_setting_that_cannot_be_used_stops_before_anything_is_opened() -> None:
    """Code 2, and the sentence names the option."""
    result = run("serve", "--store", "postgres://localhost")

    assert result.exit_code == 2
    assert result.stderr.startswith("error: --store cannot be used")


def test_what_changes_while_the_gateway_starts_is_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are looked at before they are read: what is written meanwhile is loaded at the first look."""
    manifests, store = tmp_path / "manifests", f"sqlite:///{tmp_path}/store.db"
    manifests.mkdir()
    (manifests / "read.yaml").write_text(json.dumps(read()))
    create_key(tmp_path / "keys.json", subject="agent", tenant="acme", permissions=("things:read",), attributes={})
    changed = list[bool]()

    def assembled(settings: Settings, environ: Mapping[str, str]) -> Gateway:
        """As the product does; then somebody writes."""
        gateway = assemble(settings, environ)
        (manifests / "other.yaml").write_text(json.dumps(read({"name": "other"})))
        return gateway

    monkeypatch.setattr("gateway.app.assemble", assembled)
    monkeypatch.setattr("gateway.cli.serve.serve", lambda *_, files, **__: changed.append(files.changed()))
    words = ["--manifests", str(manifests), "--store", store, "--keys", str(tmp_path / "keys.json")]
    result = run("serve", *words, "--manifest-env", "API", environment={"API": "https://pay.example"})

    assert (result.exit_code, changed) == (0, [True]), result.output
