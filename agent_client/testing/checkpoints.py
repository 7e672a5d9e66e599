"""`checkpoint_conformance`: the suite that proves a checkpoint store, ours or yours.

```python
from agent_client.testing import CHECKPOINT_CHECKS, CheckpointSubject

@pytest.mark.parametrize("check", CHECKPOINT_CHECKS, ids=lambda check: check.__name__)
async def test_my_store(check, tmp_path):
    await check(CheckpointSubject(shared="my_package.stores:open_store", arguments=(str(tmp_path / "db"),)))
```

Without pytest: `await checkpoint_conformance(subject)`.
"""

import importlib
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from agent_client.journal import Commit, Headline, Log, NewEntry
from agent_client.ports import Checkpoints

Opener = Callable[..., AbstractAsyncContextManager[Checkpoints]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointSubject:
    """The store under test. Give `shared` where processes can share it, `opener` where they cannot.

    Attributes:
        shared: `package.module:function`, importable in another process; called with `arguments`, it is an async
            context manager of the store. Each call opens the same store anew.
        opener: the same as a function, for a store that lives in one process; each call gives the same store.
    """

    shared: str | None = None
    arguments: tuple[str, ...] = ()
    opener: Opener | None = None

    def open(self) -> AbstractAsyncContextManager[Checkpoints]:
        """The store."""
        if self.opener is not None:
            return self.opener(*self.arguments)
        if self.shared is None:
            raise ValueError("a subject has shared or opener")
        module, _, function = self.shared.partition(":")
        opener: Opener = getattr(importlib.import_module(module), function)
        return opener(*self.arguments)


Check = Callable[[CheckpointSubject], Awaitable[None]]


class NotConformant(AssertionError):  # noqa: N818 - what the store is
    """The store breaks promises; the message names each check with what it saw.

    Attributes:
        broken: the failures by the name of their check.
    """

    def __init__(self, broken: dict[str, BaseException]) -> None:
        super().__init__("\n".join(f"{name}: {failure}" for name, failure in broken.items()))
        self.broken = broken


async def run_checks(checks: Iterable[Check], subject: CheckpointSubject) -> None:
    """Run all of them. Raises `NotConformant` with all that failed."""
    broken: dict[str, BaseException] = {}
    for check in checks:
        try:
            await check(subject)
        except Exception as failure:  # noqa: BLE001 - whatever a store does wrong belongs into the report
            broken[getattr(check, "__name__", str(check))] = failure
    if broken:
        raise NotConformant(broken)


def expect(holds: bool, promise: str) -> None:  # noqa: FBT001 - reads as an assertion
    """Raise AssertionError with the promise that was broken."""
    if not holds:
        raise AssertionError(promise)


async def expect_raises(kind: type[Exception], doing: Awaitable[Any], promise: str) -> None:
    """Raise AssertionError unless `doing` raises `kind`."""
    try:
        await doing
    except kind:
        return
    raise AssertionError(promise)


def commit(version: int, *bodies: str, snapshot: str | None = None, at: float = 1.5, **headline: Any) -> Commit:
    """A commit with an entry for each body, or with one."""
    entries = tuple(NewEntry(kind="event", body=body) for body in bodies or (f'{{"version": {version}}}',))
    told = {"task_type": "conformance", "status": "RUNNING", **headline}
    return Commit(version=version, at_wall=at, entries=entries, headline=Headline(**told), snapshot=snapshot)


def bodies(log: Log | None) -> list[str]:
    """What stands in a log, for comparing."""
    return [] if log is None else [entry.body for entry in log.entries]
