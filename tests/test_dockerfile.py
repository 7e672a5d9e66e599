"""The essentials of the Dockerfile, read without an engine."""

import json
import re
import shlex
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from gateway.settings import Settings

ROOT = Path(__file__).parent.parent


def instructions() -> list[tuple[str, str]]:
    """Each instruction and its arguments, continuation lines joined."""
    text = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.partition(" ")[0], line.partition(" ")[2]) for line in lines]


def last_stage() -> list[tuple[str, str]]:
    """What makes the image itself."""
    made = instructions()
    return made[max(index for index, (name, _) in enumerate(made) if name == "FROM") :]


def environment() -> dict[str, str]:
    """The image's variables."""
    pairs = [pair for name, arguments in last_stage() if name == "ENV" for pair in shlex.split(arguments)]
    return dict(pair.split("=", 1) for pair in pairs)


def only(name: str) -> str:
    """The arguments of an instruction that the image has once."""
    (arguments,) = [arguments for found, arguments in last_stage() if found == name]
    return arguments


def test_it_is_built_in_one_stage_and_run_in_another() -> None:
    """Slim Debian both times; what built it stays behind."""
    assert [name for name, _ in instructions()].count("FROM") == 2
    assert re.search(r"^ARG PYTHON=3\.\d+-slim-\w+$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    assert "--from=build" in only("COPY")


def test_what_it_runs_is_compiled() -> None:
    """It has the environment that the wheel was installed in, and neither a compiler nor what drives it."""
    built = " ".join(arguments for name, arguments in instructions() if name == "RUN")

    assert "python -m compiling --wheel /wheel" in built
    assert "/opt/oncegate/bin/python -m pip install" in built
    assert '"$(echo /wheel/*.whl)[gateway]"' in built
    assert "oncegate version | grep -w compiled" in built
    assert only("COPY").split() == ["--from=build", "/opt/oncegate", "/opt/oncegate"]
    assert not [arguments for name, arguments in last_stage() if name == "RUN" and re.search("apt|pip", arguments)]


def test_it_runs_as_nobody_in_particular() -> None:
    """A numeric user above those of any host, so that `runAsNonRoot` can be checked."""
    user, _, group = only("USER").partition(":")

    assert int(user) >= 10_000
    assert int(group) >= 10_000


def test_nothing_is_written_outside_the_volume() -> None:
    """With a read-only root the store, the keys, temporary tables and the working directory still work."""
    variables, volume = environment(), only("VOLUME")

    assert variables["PYTHONDONTWRITEBYTECODE"] == "1"
    assert variables["ONCEGATE_STORE"].startswith(f"sqlite:///{volume}/")
    assert variables["ONCEGATE_KEYS"].startswith(f"{volume}/")
    assert variables["SQLITE_TMPDIR"] == only("WORKDIR") == volume


def test_every_setting_exists() -> None:
    """Each variable is the twin of a setting, with a value that the setting takes."""
    settings = {
        name.removeprefix("ONCEGATE_").lower(): value
        for name, value in environment().items()
        if name.startswith("ONCEGATE_")
    }

    assert set(settings) <= set(Settings.model_fields)
    assert Settings.model_validate(settings).port == int(only("EXPOSE"))


def test_it_serves() -> None:
    """`oncegate serve`, in exec form, so that SIGTERM reaches it; another command can be given instead."""
    assert [*json.loads(only("ENTRYPOINT")), *json.loads(only("CMD"))] == ["oncegate", "serve"]


class _Answers(BaseHTTPRequestHandler):
    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status if self.path == "/healthz" else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.mark.parametrize(("status", "healthy"), [(200, True), (503, False)])
def test_the_health_check_asks_healthz(status: int, healthy: bool) -> None:  # noqa: FBT001
    """The one-liner as it stands, run against a server that is well and one that is not."""
    _, _, command = only("HEALTHCHECK").partition("CMD ")
    program, *arguments = json.loads(command)
    assert program == "python"
    handler = type("Answers", (_Answers,), {"status": status})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        checked = subprocess.run(
            [sys.executable, *arguments], env={"ONCEGATE_PORT": str(server.server_port)}, check=False, timeout=20
        )
        server.shutdown()
        thread.join()

    assert (checked.returncode == 0) is healthy


def test_nothing_superfluous_is_sent_to_the_engine() -> None:
    """The context is what COPY takes, and neither the repository nor an environment."""
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[0] == "!"}
    copied = {
        source.removeprefix("./")
        for name, arguments in instructions()
        if name == "COPY" and "--from" not in arguments
        for source in arguments.split()[:-1]
    }

    assert copied == allowed
