"""One exchange over a real socket, with both clients: what each way of ending is heard as, and how often it is sent."""

import asyncio
import logging
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from agent_client.gateway_client.asking import Ask
from agent_client.gateway_client.exchange import Bounds, Connection, encode, exchange, exchange_blocking
from agent_client.gateway_client.heard import Answer, Heard, Silence
from agent_client.system import SystemClock
from tests.agent_client.wire_server import Drip, Hang, Line, Say, answer, closed_port, serving

QUICK = Bounds(connect_s=1, answer_s=1, answer_bytes=1000)
PATIENT = Bounds(answer_bytes=1000)
ASK = Ask(method="POST", path="/v1/tools/t/calls", headers={"Idempotency-Attempt": "3"})
TOKEN = "og_secret_token"
HALF = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{"


def bare(connection: Connection) -> dict[str, Any]:
    return connection.settings()


async def listen(connection: Connection, ask: Ask, *, blocking: bool) -> Heard:
    """The exchange by either client."""
    if blocking:
        with httpx.Client(**bare(connection)) as client:
            return await asyncio.to_thread(exchange_blocking, client, connection, SystemClock(), ask, b"{}")
    async with httpx.AsyncClient(**bare(connection)) as waiting:
        return await exchange(waiting, connection, ask, b"{}")


both = pytest.mark.parametrize("blocking", [False, True], ids=["async", "blocking"])


@both
async def test_a_whole_answer_is_heard(blocking: bool) -> None:  # noqa: FBT001
    """Status, type, bytes and wait; the request carries token and headers, and asks for no compression."""
    with serving(answer(b"{}", status=503, headers={"Retry-After": "7"})) as server:
        heard = await listen(Connection(server.url + "/", TOKEN, PATIENT), ASK, blocking=blocking)

    assert heard == Answer(status=503, content_type="application/json", body=b"{}", retry_after_s=7.0)
    [seen] = server.seen
    assert (seen.method, seen.path, seen.body) == ("POST", "/v1/tools/t/calls", b"{}")
    assert seen.headers["authorization"] == f"Bearer {TOKEN}"
    assert seen.headers["content-type"] == "application/json"
    assert seen.headers["accept-encoding"] == "identity"
    assert seen.headers["idempotency-attempt"] == "3"


@both
@pytest.mark.parametrize(
    ("line", "silence"),
    [
        (Say(b""), Silence.BROKEN),
        (Say(b"", reset=True), Silence.BROKEN),
        (Say(HALF), Silence.BROKEN),
        (Say(HALF, reset=True), Silence.BROKEN),
        (Say(b"HTTP/1.1 200"), Silence.BROKEN),
        (Say(b"SSH-2.0-OpenSSH\r\n\r\n"), Silence.BROKEN),
        (Hang(), Silence.ANSWER_TIMEOUT),
        (Drip(HALF.replace(b"90", b"900")), Silence.ANSWER_TIMEOUT),
        (answer(b"x" * 1001), Silence.TOO_LARGE),
        (Drip(HALF.replace(b"Content-Length: 90", b"Connection: close") + b"x" * 1001), Silence.TOO_LARGE),
        (answer(b"\x1f\x8b", headers={"Content-Encoding": "gzip"}), Silence.ENCODED),
    ],
)
async def test_every_other_end_is_a_silence_and_one_send(
    line: Line,
    silence: Silence,
    blocking: bool,  # noqa: FBT001
) -> None:
    """A connection that breaks, hangs, drips or speaks another language proves nothing, and is not asked again."""
    bounds = QUICK if silence is Silence.ANSWER_TIMEOUT else PATIENT
    with serving(line) as server:
        heard = await listen(Connection(server.url, TOKEN, bounds), ASK, blocking=blocking)

    assert heard is silence
    assert len(server.seen) == 1


@both
async def test_nobody_there_is_a_proof(blocking: bool) -> None:  # noqa: FBT001
    """A refused connection and a name that does not resolve: nothing was sent."""
    for url in (closed_port(), "http://nowhere.invalid:1"):
        assert await listen(Connection(url, TOKEN, PATIENT), ASK, blocking=blocking) is Silence.NO_CONNECTION


@both
async def test_a_redirect_is_an_answer_and_not_an_address(blocking: bool) -> None:  # noqa: FBT001
    """It is not followed: the action would be sent to somewhere else, with the token."""
    with serving(answer(b"", status=307, headers={"Location": "http://elsewhere.invalid/"})) as server:
        heard = await listen(Connection(server.url, TOKEN, PATIENT), ASK, blocking=blocking)

    assert isinstance(heard, Answer)
    assert heard.status == 307
    assert len(server.seen) == 1


@both
async def test_a_call_with_its_own_time_is_waited_for_a_little_longer(blocking: bool) -> None:  # noqa: FBT001
    """`wait_s` and `grace_s` take the place of `answer_s`, so that the gateway's own word about the deadline arrives."""
    patient = Bounds(connect_s=1, answer_s=600, grace_s=0.5)
    ask = Ask(method="POST", path="/", wait_s=0.5)
    with serving(Hang()) as server:
        connection = Connection(server.url, TOKEN, patient)
        heard = await listen(connection, ask, blocking=blocking)

    assert heard is Silence.ANSWER_TIMEOUT
    assert connection.patience(ask) == pytest.approx(1.0)
    assert connection.patience(ASK) == 600


@both
async def test_the_environments_proxy_is_not_used(
    blocking: bool,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It would answer in the gateway's place; a proxy that is given is used."""
    monkeypatch.setenv("HTTP_PROXY", closed_port())
    with serving(answer(b"{}")) as server:
        direct = await listen(Connection(server.url, TOKEN, PATIENT), ASK, blocking=blocking)
        through = Connection("http://gateway.invalid", TOKEN, PATIENT, proxy=server.url)
        proxied = await listen(through, ASK, blocking=blocking)

    assert isinstance(direct, Answer)
    assert isinstance(proxied, Answer)
    assert server.seen[1].path == "http://gateway.invalid/v1/tools/t/calls"


@pytest.mark.parametrize("wait", ["soon", "Wed, 21 Oct 2026 07:28:00 GMT", "-1", "9" * 30, "1.5"])
async def test_a_wait_that_is_no_number_of_seconds_is_none(wait: str) -> None:
    """A clock of the other side is not compared with ours."""
    with serving(answer(b"{}", status=503, headers={"Retry-After": wait})) as server:
        heard = await listen(Connection(server.url, TOKEN, PATIENT), ASK, blocking=False)

    assert isinstance(heard, Answer)
    assert heard.retry_after_s is None


@both
async def test_the_token_is_in_no_log_line(blocking: bool, caplog: pytest.LogCaptureFixture) -> None:  # noqa: FBT001
    """Not even at the most talkative level of the HTTP library, and in no repr."""
    caplog.set_level(logging.DEBUG)
    with serving(answer(b"{}")) as server:
        connection = Connection(server.url, TOKEN, PATIENT)
        await listen(connection, ASK, blocking=blocking)

    assert caplog.records
    assert TOKEN not in caplog.text
    assert TOKEN not in repr(connection)


@dataclass(frozen=True)
class Bad:
    url: str
    token: str = "t"


@pytest.mark.parametrize(
    "bad",
    [
        Bad("localhost:8080"),
        Bad("ftp://h"),
        Bad("http://"),
        Bad("http://h/?a=1"),
        Bad("http://h/#f"),
        Bad("http://user:hidden@h"),
        Bad("http://h", ""),
        Bad("http://h", "two words"),
        Bad("http://h", "line\r\nX: y"),
        Bad("http://h", "é"),
    ],
)
def test_an_address_or_token_that_cannot_be_one_is_refused(bad: Bad) -> None:
    """At once, with a sentence that repeats neither."""
    with pytest.raises(ValueError, match=r"the gateway's url|the token") as raised:
        Connection(bad.url, bad.token, PATIENT)

    assert "hidden" not in str(raised.value)


def test_what_json_cannot_say_strictly_is_left_to_the_gateway_to_refuse() -> None:
    """NaN and a lone surrogate travel, and come back as an envelope; what is no JSON at all is an error here."""
    assert encode({"a": float("nan"), "b": "\ud800"}) == b'{"a":NaN,"b":"\\ud800"}'
    with pytest.raises(TypeError):
        encode({"a": object()})
