"""What a provider can do to a request, over a real socket, and what the loop is told of it."""

import asyncio
import logging

import pytest

from agent_client.inference import ModelTrouble
from agent_client.models.exchange import ModelBounds, Provider, retry_after
from tests.agent_client.wire_server import Drip, Hang, Line, Say, answer, closed_port, serving

QUICK = ModelBounds(answer_s=1, answer_bytes=1000)
PATIENT = ModelBounds(answer_bytes=1000)
KEY = "sk-planted-secret"
HALF = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{"


def provider(url: str, bounds: ModelBounds = PATIENT) -> Provider:
    return Provider(f"{url}/v1/", {"Authorization": f"Bearer {KEY}"}, bounds)


async def trouble(line: Line) -> tuple[ModelTrouble, int]:
    """What is raised, and how often it was sent."""
    with serving(line) as server:
        asked = provider(server.url, QUICK if isinstance(line, Hang | Drip) else PATIENT)
        with pytest.raises(ModelTrouble) as raised:
            await asked.post("/x", {}, timeout_s=None)
        await asked.aclose()
    return raised.value, len(server.seen)


@pytest.mark.parametrize(
    ("line", "retryable", "told"),
    [
        (answer({}, status=429, headers={"Retry-After": "7"}), True, "status 429"),
        (answer({}, status=500), True, "status 500"),
        (answer({"error": {"type": "overloaded_error"}}, status=529), True, r"status 529 \(overloaded_error\)"),
        (answer({"error": {"code": "invalid_api_key"}}, status=401), False, r"status 401 \(invalid_api_key\)"),
        (answer({"error": {"type": "your prompt said: hi"}}, status=400), False, "status 400$"),
        (answer(b"<html>", status=404, kind="text/html"), False, "status 404$"),
        (answer(b"", status=307, headers={"Location": "http://elsewhere.invalid"}), False, "status 307"),
        (answer(b"<html>", kind="text/html"), True, "not JSON"),
        (answer(b"[" * 900), True, "not JSON"),
        (answer(b"x" * 1001), False, "larger"),
        (Say(HALF), True, "RemoteProtocolError"),
        (Say(b"", reset=True), True, "connection to the model's provider failed"),
        (Say(b"SSH-2.0\r\n\r\n"), True, "RemoteProtocolError"),
        (Hang(), True, "in time"),
        (Drip(HALF), True, "in time"),
    ],
)
async def test_trouble_says_whether_it_may_pass(line: Line, retryable: bool, told: str) -> None:  # noqa: FBT001
    """One send each, retried by nobody here: the loop does that. The provider's own text is not in the message."""
    raised, sends = await trouble(line)

    assert raised.retryable is retryable
    with pytest.raises(ModelTrouble, match=told):
        raise raised
    assert sends == 1
    assert KEY not in str(raised)


async def test_what_a_provider_asks_to_wait_is_kept() -> None:
    """`Retry-After` in seconds, or in milliseconds from those who say it so."""
    raised, _ = await trouble(answer({}, status=429, headers={"Retry-After": "7"}))

    assert raised.retry_after_s == 7
    assert retry_after({"retry-after-ms": "1500", "retry-after": "2"}) == 1.5
    assert retry_after({"retry-after": "0.5"}) == 0.5
    for text in ("", "soon", "-1", "Wed, 21 Oct 2026 07:28:00 GMT", "1.2.3", "9" * 20):
        assert retry_after({"retry-after": text}) is None


async def test_the_shorter_of_both_times_ends_the_wait() -> None:
    """What the request gave, where it is less than the adapter's own."""
    with serving(Hang()) as server:
        asked = provider(server.url, ModelBounds(answer_s=600))
        with pytest.raises(ModelTrouble, match="in time"):
            await asked.post("/x", {}, timeout_s=1)
        await asked.aclose()


async def test_nobody_there_may_pass() -> None:
    """A refused connection is trouble like any other."""
    asked = provider(closed_port())
    with pytest.raises(ModelTrouble, match="ConnectError") as raised:
        await asked.post("/x", {}, timeout_s=None)
    await asked.aclose()

    assert raised.value.retryable


async def test_the_key_is_in_no_log_line(caplog: pytest.LogCaptureFixture) -> None:
    """Not even at the most talkative level of the HTTP library, and in no repr; it is in the request."""
    caplog.set_level(logging.DEBUG)
    with serving(answer({"a": 1})) as server:
        asked = provider(server.url)
        assert await asked.post("/x", {"b": "\ud800"}, timeout_s=None) == {"a": 1}
        await asked.aclose()

    assert server.seen[0].path == "/v1/x"
    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.seen[0].headers["accept-encoding"] == "identity"
    assert caplog.records
    assert KEY not in f"{caplog.text}{asked!r}"


async def test_a_proxy_is_only_the_one_that_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment's is not used."""
    monkeypatch.setenv("HTTP_PROXY", closed_port())
    with serving(answer({"a": 1})) as server:
        direct = provider(server.url)
        through = Provider("http://provider.invalid/v1", {}, PATIENT, proxy=server.url)
        for asked in (direct, through):
            await asked.post("/x", {}, timeout_s=None)
            await asked.aclose()

    assert server.seen[1].path == "http://provider.invalid/v1/x"


def test_one_provider_serves_one_event_loop_after_the_other() -> None:
    """Connections of a loop that has ended are not used."""
    with serving(answer({"a": 1})) as server:
        asked = provider(server.url)

        async def ask() -> object:
            try:
                return await asked.post("/x", {}, timeout_s=None)
            finally:
                await asked.aclose()

        assert [asyncio.run(ask()), asyncio.run(ask())] == [{"a": 1}] * 2


@pytest.mark.parametrize(
    ("url", "key"),
    [("api.example", "k"), ("ftp://h", "k"), ("http://h?a=1", "k"), ("http://u:hidden@h", "k"), ("http://h", "a\r\nb")],
)
def test_an_address_or_key_that_cannot_be_one_is_refused(url: str, key: str) -> None:
    """At once, with a sentence that repeats neither."""
    with pytest.raises(ValueError, match=r"base_url|key") as raised:
        Provider(url, {"x": key}, PATIENT)

    assert "hidden" not in str(raised.value)
