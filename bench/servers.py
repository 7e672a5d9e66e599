"""The servers that a measurement asks for, each its own process on loopback, on stores in one folder that goes away."""

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx

from bench.cases import FIRST_NEW, STORED, Case, Place
from gateway.adapters.files.keys import create_key
from gateway.demo.processes import STARTS_WITHIN_S, Child
from gateway.demo.redis_process import RedisProcess

_MANIFESTS: Final = Path(__file__).parent / "manifests"
_PERMISSIONS: Final = ("refunds:read", "refunds:write")
_ATTRIBUTES: Final = {"max_refund_paise": 50_000_000}
_AT_ONCE: Final = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Servers:
    """Where they listen. `key` is good at every OnceGate."""

    children: Mapping[Place, Child]
    key: str

    def url(self, place: Place) -> str:
        """The address of one."""
        return self.children[place].url

    def pid(self, place: Place) -> int:
        """Its process."""
        return self.children[place].pid


class WrongAnswerError(Exception):
    """A server does not answer as the case needs it; measuring it would say nothing."""


@asynccontextmanager
async def servers(places: Collection[Place], *, under: tuple[str, ...] = ()) -> AsyncIterator[Servers]:
    """Start the downstream and these, and end them all. `under`: the command that runs these, if one does."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="oncegate-bench-")))
        key, _ = create_key(
            folder / "keys.json", subject="agent", tenant="bench", permissions=_PERMISSIONS, attributes=_ATTRIBUTES
        )

        async def started(place: Place, *command: str, environment: Mapping[str, str] | None = None) -> Child:
            log = folder / f"{place.name}.log"
            whole = (*(() if place is Place.DOWNSTREAM else under), sys.executable, "-m", *command)
            # A thousand manifests take a while, and so does everything that another program runs.
            within_s = STARTS_WITHIN_S * (5 if under or place is Place.THOUSAND else 1)
            child = await Child.start(whole, log=log, environment=environment, within_s=within_s)
            stack.push_async_callback(child.stop)
            return child

        downstream = await started(Place.DOWNSTREAM, "bench.downstream")
        url = downstream.url
        children = {Place.DOWNSTREAM: downstream}
        if Place.PROXY in places:
            children[Place.PROXY] = await started(Place.PROXY, "bench.barest_proxy", url)
        for place in (Place.TWO_SPANS, Place.ONE_SPAN, Place.ON_REDIS, Place.THOUSAND):
            if place in places:
                environment = _settings(folder, place, url) | ({"BENCH_SLOWDOWN": "50"} if under else {})
                if place is Place.ON_REDIS:
                    redis = await RedisProcess.start(folder)
                    stack.push_async_callback(redis.stop)
                    environment["ONCEGATE_STORE"] = redis.url
                    environment |= {"BENCH_STORE_PATIENCE_S": "30"} if under else {}
                children[place] = await started(place, "bench.oncegate_server", environment=environment)
        yield Servers(children=children, key=key)


def _settings(folder: Path, place: Place, downstream: str) -> dict[str, str]:
    manifests = folder / f"manifests-{place.name}"
    write_manifests(manifests, 1000 if place is Place.THOUSAND else 5)
    return {
        "ONCEGATE_MANIFESTS": str(manifests),
        "ONCEGATE_MANIFEST_ENV": "DOWNSTREAM_URL",
        "DOWNSTREAM_URL": downstream,
        "ONCEGATE_EGRESS_ALLOW_PRIVATE": urlsplit(downstream).netloc,
        "ONCEGATE_STORE": f"sqlite:///{folder / place.name}.sqlite",
        "ONCEGATE_KEYS": str(folder / "keys.json"),
        "ONCEGATE_PORT": "0",
        "ONCEGATE_ATTEMPT_SPANS": "false" if place is Place.ONE_SPAN else "true",
    }


def write_manifests(folder: Path, count: int) -> None:
    """Put the benchmark's tools, and copies of its read under other names, into a new folder."""
    folder.mkdir()
    tools = {path.stem: path.read_text(encoding="utf-8") for path in sorted(_MANIFESTS.glob("*.yaml"))}
    read = tools["find_refund"]
    for number in range(count - len(tools)):
        tools[f"find_refund_{number}"] = read.replace("name: find_refund", f"name: find_refund_{number}", 1)
    for name, text in tools.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")


async def fill(servers: Servers, write: Case) -> None:
    """Make the writes that replays will find.

    Raises:
        WrongAnswerError: one was not executed.
    """
    url = f"{servers.url(write.place)}/v1/tools/{write.tool}/calls"
    async with _client(servers.key) as client:
        for first in range(FIRST_NEW, FIRST_NEW + STORED, _AT_ONCE):
            numbers = range(first, min(first + _AT_ONCE, FIRST_NEW + STORED))
            answers = await asyncio.gather(*(client.post(url, content=write.body % number) for number in numbers))
            for answer in answers:
                if answer.status_code != 200:
                    raise WrongAnswerError(f"a write to be replayed was answered {answer.status_code}: {answer.text}")


async def check(servers: Servers, case: Case, *, first: int) -> None:
    """One call of the case.

    Raises:
        WrongAnswerError: the answer is not of the kind that the case is about.
    """
    body = case.body % first if "%d" in case.body else case.body
    async with _client(servers.key) as client:
        url = f"{servers.url(case.place)}{case.target_path}"
        answer = await client.post(url, content=body, headers=dict(case.headers))
    replayed = answer.headers.get("idempotent-replayed") == "true"
    ok = answer.is_success and b'"isError":true' not in answer.content and b'"error":{' not in answer.content
    if ok is not case.ok or replayed is not bool(case.many):
        raise WrongAnswerError(f"{case.id}: answered {answer.status_code}, replayed {replayed}: {answer.text}")


def _client(key: str) -> httpx.AsyncClient:
    headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}
    return httpx.AsyncClient(headers=headers, timeout=10, trust_env=False)
