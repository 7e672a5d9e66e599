"""Where tasks survive: `SQLiteCheckpoints`, `PostgresCheckpoints`, and `MemoryCheckpoints` for tests."""

from agent_client.checkpoints.memory import MemoryCheckpoints
from agent_client.checkpoints.postgres import PostgresCheckpoints
from agent_client.checkpoints.sqlite import SQLiteCheckpoints

__all__ = ["MemoryCheckpoints", "PostgresCheckpoints", "SQLiteCheckpoints"]
