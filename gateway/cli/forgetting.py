"""Dropping what one operation stores, at the store itself."""

import asyncio
from pathlib import Path

from gateway.adapters.sqlite.adoption import StoreRefusedError
from gateway.adapters.sqlite.sealing import Sealer
from gateway.adapters.sqlite.store import SqliteOperationStore
from gateway.cli.exits import Exit, Failure
from gateway.settings import Settings
from gateway.stages.execute.operation.ports import StoreUnavailableError

_SQLITE = "sqlite:///"


def forget_bodies(settings: Settings, operation_id: str) -> bool:
    """Whether the operation was settled and still had arguments or a result; they are gone now.

    Raises:
        Failure: the store is none that outlives a process, or cannot be opened.
    """
    if not settings.store.startswith(_SQLITE):
        raise Failure(f"nothing is kept in {settings.store} once its process ends.", Exit.USAGE)
    path = Path(settings.store.removeprefix(_SQLITE))
    if not path.exists():
        raise Failure(f"there is no store at {path}.", Exit.USAGE)
    seal_key = settings.seal_key.get_secret_value() if settings.seal_key else ""
    try:
        return asyncio.run(_forget(path, Sealer.parse(seal_key), operation_id)) > 0
    except (StoreRefusedError, StoreUnavailableError, ValueError) as error:
        raise Failure(f"the store cannot be used: {error}.", Exit.USAGE) from None


async def _forget(path: Path, sealer: Sealer, operation_id: str) -> int:
    store = SqliteOperationStore.open(path, sealer=sealer)
    try:
        return await store.forget(retention_s=0.0, operation_id=operation_id)
    finally:
        await store.close()
