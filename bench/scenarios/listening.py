"""A gateway of somebody else's that already listens: `POST URL` with the arguments as the body."""

from typing import Any

from bench.scenarios.burst import ask, from_processes
from bench.scenarios.target import Call, Kind, Setting, Told, UnsupportedError, Word

CONFLICTS = frozenset({409, 422})


class Listening:
    """Calls `url`, in which `{tool}` stands for the tool's name. What it answers is read by its status."""

    def __init__(self, url: str) -> None:
        self._pattern = url

    async def start(self, setting: Setting) -> None:
        """It listens already, and was told by its own means where the provider is."""
        if setting.processes > 1:
            raise UnsupportedError("one address is one process")

    async def call(self, call: Call, *, process: int = 0) -> Told:  # noqa: ARG002 - there is one
        """One POST."""
        return _told((await ask(_order(call), [self._url(call)]))[0])

    async def burst(self, call: Call, *, clients: int, each: int) -> list[Told]:
        """All at once from so many client processes."""
        urls = [self._url(call)] * (clients * each)
        answers = await (
            ask(_order(call), urls) if clients == 1 else from_processes(_order(call), urls, clients=clients)
        )
        return [_told(answer) for answer in answers]

    async def look_now(self, call: Call) -> None:
        """There is no common way to ask."""

    async def decide(self, call: Call, word: Word) -> bool:
        """There is no common way to approve."""
        raise UnsupportedError(f"nobody can say {word} to {call.tool} in a common way")

    async def until_lapsed(self, call: Call) -> None:
        """Nor to see an approval lapse."""
        raise UnsupportedError(f"{call.tool} has no approvals in a common way")

    async def kill(self, process: int = 0) -> None:
        """Not ours to kill."""
        raise UnsupportedError(f"process {process} is not ours to kill")

    async def restart(self, process: int = 0) -> None:
        """Not ours to start."""
        raise UnsupportedError(f"process {process} is not ours to start")

    def pause(self, process: int = 0) -> None:
        """Not ours to stop."""
        raise UnsupportedError(f"process {process} is not ours to pause")

    def resume(self, process: int = 0) -> None:
        """Not ours to resume."""
        raise UnsupportedError(f"process {process} is not ours to resume")

    async def stop(self) -> None:
        """It goes on listening."""

    def _url(self, call: Call) -> str:
        return self._pattern.replace("{tool}", call.tool)


def _order(call: Call) -> dict[str, Any]:
    return {"headers": {"Idempotency-Key": call.key}, "body": dict(call.arguments)}


def _told(answer: dict[str, Any]) -> Told:
    status, body = answer["status"], answer["body"]
    refund_id = _find(body, "refund_id")
    if status is not None and status < 300 and refund_id:
        return Told(kind=Kind.DONE, refund_id=refund_id)
    if status in CONFLICTS:
        return Told(kind=Kind.CONFLICT, code=str(status))
    return Told(kind=Kind.NOTHING, code=None if status is None else str(status))


def _find(value: Any, name: str) -> str | None:
    """The first text under this name, however deep an envelope has put it."""
    if isinstance(value, dict):
        if isinstance(value.get(name), str):
            return str(value[name])
        return next((found for each in value.values() if (found := _find(each, name))), None)
    if isinstance(value, list):
        return next((found for each in value if (found := _find(each, name))), None)
    return None
