"""Client commands: one request to a gateway, its envelope, and what the exit code makes of it."""

import functools
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import IO, Any, Final

import click
import httpx

from gateway.cli.addresses import refuse_credentials, refuse_query
from gateway.cli.exits import Exit, Failure, let_go
from gateway.cli.interrupts import ignore
from gateway.cli.output import print_json
from gateway.contract.codes import CallOutcome
from gateway.contract.envelope import Envelope, ToolError, parse_envelope

_DEFAULT_URL: Final = "http://127.0.0.1:8080"
_OUTCOME_EXITS: Final = {
    CallOutcome.NOT_EXECUTED: Exit.NO,
    CallOutcome.UNKNOWN: Exit.UNKNOWN,
    CallOutcome.EXECUTED: Exit.EXECUTED,
}
_KEY: Final = re.compile(r"[!-~]{1,4096}", re.ASCII)
_NEVER_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol, httpx.InvalidURL)
_AGAIN: Final = "It MAY have been carried out. Make the same call again: it is the same operation."
# A load balancer's own words come also after the gateway behind it has acted; elsewhere no two calls are one operation.
_ELSEWHERE: Final = "Only if a gateway stands behind that address, it MAY have been carried out; do not send it there again before you know."
_VERSIONED: Final = re.compile(r"/v\d+/*")

_ENDS: Final[Mapping[type[httpx.HTTPError], str]] = {
    httpx.RemoteProtocolError: "it closed the connection",
    httpx.ReadError: "the connection broke",
    httpx.ReadTimeout: "the time of --timeout is over",
}
"""How an answer fails to come, in words."""


@dataclass(slots=True)
class Sent:
    """Whether a request that changes something may have left; from its first byte on nobody can take it back.

    Attributes:
        answer: the gateway's, of whatever request.
    """

    change: bool = False
    answer: Envelope | None = None

    def watch(self, event: str, _: Mapping[str, Any]) -> None:
        """The `trace` extension of httpcore: called before the first byte is written, and at every other step."""
        if event.endswith("send_request_headers.started"):
            self.change = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """Where the gateway is, and who asks."""

    url: str
    key: str
    timeout_s: float
    sent: Sent = field(default_factory=Sent)

    def ask(
        self, method: str, path: str, *, body: Any = None, changes: bool | None = None, **extra: Mapping[str, str]
    ) -> Envelope:
        """The envelope of one request. `extra` is `headers` or `params`; a GET changes nothing, unless `changes` says so.

        Raises:
            Failure: UNREACHABLE when nothing was sent; UNKNOWN when it may have been, and no gateway's answer came.
        """
        changes = method != "GET" if changes is None else changes
        try:
            self.sent.answer = self._envelope(
                self.fetch(method, path, body=body, changes=changes, **extra), changes=changes
            )
        finally:
            # What is known of a change is known now, and no Ctrl-C makes another code of it.
            if self.sent.change:
                ignore()
        return self.sent.answer

    def _envelope(self, response: httpx.Response, *, changes: bool) -> Envelope:
        try:
            return parse_envelope(response.json())
        except (ValueError, TypeError):
            said = f"answered {response.status_code} and not as a gateway does"
            raise self._no_gateway(said, changes=changes) from None

    def fetch(self, method: str, path: str, *, body: Any, changes: bool, **extra: Mapping[str, str]) -> httpx.Response:
        """The bare answer of one request; raises as `ask`."""
        watched = {"trace": self.sent.watch} if changes else {}
        headers = {"authorization": f"Bearer {self.key}", **extra.get("headers", {})}
        try:
            with httpx.Client(base_url=self.url, timeout=self.timeout_s, trust_env=False) as client:
                return client.request(
                    method, path, json=body, headers=headers, params=extra.get("params"), extensions=watched
                )
        except _NEVER_SENT as error:
            reason = str(error).rstrip(".") or "timed out"
            raise Failure(f"no gateway answers at {self.url}: {reason}.", Exit.UNREACHABLE) from None
        except httpx.HTTPError as error:
            if isinstance(error, httpx.RemoteProtocolError) and "illegal" in str(error):
                raise self._no_gateway("answered with what is no HTTP", changes=changes) from None
            raise Failure(
                f"the gateway at {self.url} took the request and did not answer: {_ENDS.get(type(error), type(error).__name__)}."
                + (f" {_AGAIN}" if changes else ""),
                Exit.UNKNOWN if changes else Exit.UNREACHABLE,
            ) from None

    def _no_gateway(self, said: str, *, changes: bool) -> Failure:
        asks = f"{self.url} {said}; is ONCEGATE_URL right?"
        return Failure(f"{asks} {_ELSEWHERE}", Exit.UNKNOWN) if changes else Failure(asks, Exit.UNREACHABLE)


_OPTIONS: Final = (
    click.option(
        "--timeout",
        "timeout_s",
        type=click.FloatRange(min=0.1),
        default=60.0,
        show_default=True,
        help="Seconds to wait for the answer.",
    ),
    click.option("--key-file", type=click.File(), help="File with the API key.  [else: env var ONCEGATE_KEY]"),
    click.option(
        "--url", envvar="ONCEGATE_URL", default=_DEFAULT_URL, show_default=True, show_envvar=True, help="The gateway."
    ),
)


def gateway_options(command: Callable[..., None]) -> Callable[..., None]:
    """`--url`, `--key-file` and `--timeout`, which the command gets as `gateway`."""

    @functools.wraps(command)
    def wrapped(*, url: str, key_file: IO[str] | None, timeout_s: float, **rest: Any) -> None:
        key = _key(key_file)
        _check_url(url)
        gateway = Gateway(url=url, key=key, timeout_s=timeout_s)
        try:
            command(gateway=gateway, **rest)
        except KeyboardInterrupt:
            # Also while the answer is read: whoever interrupts has not seen it. While it is printed nobody can.
            if gateway.sent.change:
                ignore()
                raise Failure(f"interrupted. {_AGAIN}", Exit.UNKNOWN) from None
            raise
        except OSError as error:
            raise _unwritten(gateway.sent, error) from None

    with_options: Callable[..., None] = wrapped
    for option in _OPTIONS:
        with_options = option(with_options)
    return with_options


def _unwritten(sent: Sent, error: OSError) -> Exception:
    """What becomes of a command whose answer is there and cannot be written down."""
    if sent.answer is None:
        return error
    let_go(sys.stdout)
    if sent.answer.error is not None:
        return _refused(sent.answer.error)
    reason = error.strerror or type(error).__name__
    if sent.change:
        done = f"it was carried out, but its result could not be written: {reason}. It is not carried out again."
        return Failure(done, Exit.EXECUTED)
    return error if isinstance(error, BrokenPipeError) else Failure(f"no output: {reason}.", Exit.USAGE)


def _refused(error: ToolError) -> Failure:
    return Failure(f"{error.code.value}: {error.message}", _OUTCOME_EXITS[error.outcome])


def _key(file: IO[str] | None) -> str:
    # No option takes the key itself: a command line is seen by every process of the machine.
    where = "ONCEGATE_KEY" if file is None else "the file of --key-file"
    try:
        key = (os.environ.get("ONCEGATE_KEY", "") if file is None else file.read()).strip()
    except UnicodeDecodeError:
        key = "not text"
    if _KEY.fullmatch(key):
        return key
    if key:
        rule = "a key stands alone, without `Bearer` before it, and has neither spaces nor letters beyond ASCII"
        raise Failure(f"what {where} holds is no API key: {rule}.", Exit.USAGE)
    if file is not None:
        raise Failure(f"{where} is empty: it has to hold an API key.", Exit.USAGE)
    raise Failure("an API key is needed: set ONCEGATE_KEY, or name a file with --key-file.", Exit.USAGE)


def _check_url(text: str) -> None:
    refuse_credentials("ONCEGATE_URL, or --url,", text)
    refuse_query("ONCEGATE_URL, or --url,", text)
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in ("http", "https") or not url.host or not 0 < (url.port or 80) < 65_536:
        raise Failure(
            f"ONCEGATE_URL, or --url, is `{text}`; it has to be a whole address, as in {_DEFAULT_URL}.", Exit.USAGE
        )
    if _VERSIONED.fullmatch(url.path):
        bare = str(url.copy_with(raw_path=b"/")).rstrip("/")
        raise Failure(
            f"ONCEGATE_URL, or --url, is `{text}`; it is the gateway's address without a path: {bare}.", Exit.USAGE
        )


def finish(envelope: Envelope, *, as_json: bool, show: Callable[[Any], None]) -> None:
    """Print the envelope, or its data with `show`; end with the code its outcome has.

    Raises:
        Failure: when it is not ok and a sentence is to be printed.
        click.exceptions.Exit: when it is not ok and JSON was printed.
    """
    if as_json:
        print_json(envelope.to_dict())
    if envelope.error is None:
        if not as_json:
            show(envelope.data)
        return
    refused = _refused(envelope.error)
    raise click.exceptions.Exit(refused.exit_code) if as_json else refused
