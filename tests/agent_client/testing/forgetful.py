"""A store that forgets with its process, and says that it is shared."""

import contextlib
from collections.abc import AsyncIterator

from agent_client.checkpoints import MemoryCheckpoints

FORGETFUL = f"{__name__}:open_forgetful"


@contextlib.asynccontextmanager
async def open_forgetful(_: str) -> AsyncIterator[MemoryCheckpoints]:
    """Memory."""
    yield MemoryCheckpoints()
