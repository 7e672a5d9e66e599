"""Dropping what one operation stores, at the store itself."""

import asyncio
from pathlib import Path

from gateway.cli.exits import Exit, Failure
from gateway.settings import Settings, SettingsError
from gateway.stages.execute.operation.ports import StoreUnavailableError

_SQLITE, _MEMORY = "sqlite:///", "memory://"


def forget_bodies(settings: Settings, operation_id: str) -> bool:
    """Whether the operation was settled and still had arguments or a result; they are gone now.

    Raises:
        Failure: the store is none that outlives a process, or cannot be opened.
    """
    if settings.store.startswith(_MEMORY):
        raise Failure(f"nothing is kept in {settings.store} once its process ends.", Exit.USAGE)
    path = Path(settings.store.removeprefix(_SQLITE))
    if settings.store.startswith(_SQLITE) and not path.exists():
        raise Failure(f"there is no store at {path}.", Exit.USAGE)
    try:
        return asyncio.run(_forget(settings, operation_id)) > 0
    except (SettingsError, StoreUnavailableError) as error:
        raise Failure(f"the store cannot be used: {error}.", Exit.USAGE) from None


async def _forget(settings: Settings, operation_id: str) -> int:
    from gateway.app import open_store  # noqa: PLC0415 - brings every adapter

    store = open_store(settings)
    try:
        return await store.forget(retention_s=0.0, operation_id=operation_id)
    finally:
        await store.close()
