import asyncio
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from gateway.demo.processes import Child
from gateway.demo.provider import _bound
from gateway.demo.provider_process import ProviderProcess

BODY = {"payment": "pay_1", "paise": 100}


async def refund(provider: ProviderProcess, order: str = "ORD-1", **headers: str) -> httpx.Response:
    """One refund over a connection of its own."""
    async with httpx.AsyncClient(trust_env=False, timeout=10.0) as client:
        return await client.post(f"{provider.url}/orders/{order}/refunds", json=BODY, headers=headers)


@pytest.mark.parametrize("ending", ["close", "reset", "half", "garbage"])
async def test_the_money_is_gone_and_the_answer_never_comes(provider: ProviderProcess, ending: str) -> None:
    """Each way of breaking the connection leaves one effect and no answer."""
    await provider.script("ORD-1", {"ending": ending})
    with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)) as seen:
        await refund(provider)

    assert isinstance(seen.value, httpx.ReadError) is (ending == "reset")
    assert await provider.effects("ORD-1") == 1


@pytest.mark.parametrize("status", [502, 504])
async def test_the_money_is_gone_and_a_proxy_says_otherwise(provider: ProviderProcess, status: int) -> None:
    """A scripted status replaces the answer of a refund that was made."""
    await provider.script("ORD-1", {"ending": "status", "status": status})

    assert (await refund(provider)).status_code == status
    assert await provider.effects("ORD-1") == 1


async def test_a_refusal_says_when_to_come_back(provider: ProviderProcess) -> None:
    """429 with Retry-After and no effect; then the provider is well again, on the same connection."""
    await provider.script("ORD-1", {"effect": False, "ending": "status", "status": 429, "retry_after_s": 2})
    async with httpx.AsyncClient(trust_env=False) as client:
        first = await client.post(f"{provider.url}/orders/1/refunds", json=BODY)
        second = await client.post(f"{provider.url}/orders/1/refunds", json=BODY)

    assert (first.status_code, first.headers["Retry-After"], second.status_code) == (429, "2", 200)
    assert await provider.effects("ORD-1") == 1


async def test_a_caller_who_gives_up_changes_nothing(provider: ProviderProcess) -> None:
    """The refund of a request whose caller has gone is made all the same: the incident in one line."""
    await provider.script("ORD-1", {"hold": "effect"})
    async with httpx.AsyncClient(trust_env=False, timeout=httpx.Timeout(30, read=0.1)) as client:
        with pytest.raises(httpx.ReadTimeout):
            await client.post(f"{provider.url}/orders/1/refunds", json=BODY)
    assert await provider.effects("ORD-1") == 0
    await provider.release("ORD-1")
    await provider.event("effect", "ORD-1")

    assert await provider.effects("ORD-1") == 1


async def test_connections_are_refused_and_then_taken_again(provider: ProviderProcess) -> None:
    """A deaf provider refuses connections, keeps its port, and comes up again on it."""
    await provider.refuse(3.0)
    with pytest.raises(httpx.ConnectError):
        await refund(provider)
    answer = None
    while answer is None:
        with suppress(httpx.ConnectError):
            answer = await refund(provider)

    assert (answer.status_code, await provider.effects("ORD-1")) == (200, 1)


async def test_a_request_that_is_not_http_is_answered_and_dropped(provider: ProviderProcess) -> None:
    """Nonsense gets a 400 and the end of the connection."""
    host, port = provider.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"nonsense\r\n\r\n")
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()

    assert answer.startswith(b"HTTP/1.1 400 ")


async def test_sigterm_ends_what_is_under_way_without_a_word(tmp_path: Path) -> None:
    """One connection idle and one whose answer is held: code 0, and nothing in the log."""
    child = await Child.start(
        [sys.executable, "-m", "gateway.demo.provider", "--ledger", str(tmp_path / "ledger.sqlite")],
        log=tmp_path / "provider.log",
    )
    provider = ProviderProcess(child)
    await provider.script("ORD-1", {"before_s": 30.0})
    held = asyncio.create_task(refund(provider))
    await provider.event("received", "ORD-1")
    code = await provider.stop()
    with suppress(httpx.HTTPError):
        await held

    assert code == 0
    assert (tmp_path / "provider.log").read_text() == ""


def test_what_cannot_be_served_is_a_sentence(tmp_path: Path) -> None:
    """A port that another provider has, one that is none, and a ledger that cannot be: code 2, and no traceback."""

    def ended(ledger: Path, port: int) -> tuple[int, str]:
        words = ["--ledger", str(ledger), "--port", str(port)]
        seen = subprocess.run(
            [sys.executable, "-m", "gateway.demo.provider", *words], capture_output=True, text=True, check=False
        )
        return seen.returncode, seen.stderr.splitlines()[-1]

    ledger = tmp_path / "ledger.sqlite"
    (tmp_path / "text").write_text("no database, and longer than the header of one would be" * 40)
    with _bound("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        shared = ended(ledger, port)

    in_use = f"error: cannot listen on 127.0.0.1 port {port}: Address already in use."
    assert shared == (2, f"{in_use} Give another with --port; 0 takes a free one.")
    assert ended(ledger, 99_999) == (
        2,
        "python -m gateway.demo.provider: error: argument --port: '99999' is no port: 0 to 65535, where 0 takes a free one",
    )
    nowhere = tmp_path / "nowhere" / "ledger.sqlite"
    assert ended(nowhere, 0) == (2, f"error: the ledger {nowhere} cannot be used: unable to open database file.")
    assert ended(tmp_path / "text", 0)[1].endswith("cannot be used: file is not a database.")
