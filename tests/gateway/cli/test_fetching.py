"""A document from a file or from a server."""

import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gateway.cli.exits import Exit, Failure
from gateway.cli.fetching import files_of
from gateway.manifest.openapi.document import MAX_BYTES


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        match self.path:
            case "/v1/shop.yaml?x=1":
                self._answer(200, b"openapi: 3.1.0")
            case "/moved":
                self._answer(302, b"", ("Location", "/v1/shop.yaml?x=1"))
            case "/packed":
                self._answer(200, b"\x1f\x8b", ("Content-Encoding", "gzip"))
            case "/large":
                self._answer(200, b"x" * (MAX_BYTES + 1))
            case _:
                self._answer(404, b"")

    def _answer(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in (*headers, ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        with suppress(ConnectionError):
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    """A server on a real socket."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_file_comes_with_those_beside_it(tmp_path: Path) -> None:
    """It may refer to them."""
    (tmp_path / "shop.yaml").write_text("a")
    (tmp_path / "types.yaml").write_text("b")
    name, files = files_of(str(tmp_path / "shop.yaml"))

    assert (name, files["openapi/shop.yaml"], files["openapi/types.yaml"]) == ("shop.yaml", b"a", b"b")


def test_a_server_is_asked_once_for_the_document(url: str) -> None:
    """Its name is the address's last part."""
    name, files = files_of(f"{url}/v1/shop.yaml?x=1")

    assert (name, dict(files)) == ("shop.yaml", {"openapi/shop.yaml": b"openapi: 3.1.0"})


@pytest.mark.parametrize(
    ("path", "words", "code"),
    [
        ("/moved", "answered 302", Exit.NO),
        ("/none", "answered 404", Exit.NO),
        ("/packed", "answered compressed", Exit.NO),
        ("/large", "more than 16 MiB", Exit.NO),
    ],
)
def test_any_other_answer_is_a_no(url: str, path: str, words: str, code: Exit) -> None:
    """No redirect is followed, nothing is unpacked, and nothing is read without an end."""
    with pytest.raises(Failure) as failure:
        files_of(url + path)

    assert words in str(failure.value)
    assert failure.value.exit_code == code


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    """One sentence and a code."""
    with pytest.raises(Failure, match="no such file") as missing:
        files_of(str(tmp_path / "none.yaml"))
    with pytest.raises(Failure, match="cannot be fetched") as away:
        files_of("http://127.0.0.1:1/x")

    assert (missing.value.exit_code, away.value.exit_code) == (Exit.USAGE, Exit.UNREACHABLE)
