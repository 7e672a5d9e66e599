"""Who is alive, as Postgres knows it: each worker holds a lock that its connection's end sets free.

No clock and no heartbeat: a worker that is paused keeps its lock, one that is killed loses it with its socket.
"""

import hashlib
import threading
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import psycopg

SPACE: Final = 0x0CE9A7E
"""The first half of each lock's number; the other half is the worker's."""
_SETTINGS: Final = (
    # A machine that vanished says no goodbye: the server asks after a quarter of a minute.
    "SET tcp_keepalives_idle = 15",
    "SET tcp_keepalives_interval = 5",
    "SET tcp_keepalives_count = 3",
    "SET idle_session_timeout = 0",
)


class Presence:
    """One worker's lock, and its look at those of others. Used from one thread at a time."""

    def __init__(self, address: str, executor_id: str) -> None:
        self._address = address
        self._executor_id = executor_id
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None
        self._lock = threading.Lock()

    def enter(self) -> None:
        """Be alive; again after the connection was lost.

        Raises:
            ValueError: another worker that lives has this executor id.
        """
        import psycopg  # noqa: PLC0415 - dbos brings it; nothing else here needs it

        with self._lock:
            if self._connection is not None and not self._connection.closed:
                try:
                    self._connection.execute("SELECT 1")
                except psycopg.OperationalError:
                    self._connection.close()
                else:
                    return
            connection = psycopg.connect(self._address, autocommit=True, connect_timeout=10)
            for setting in _SETTINGS:
                connection.execute(setting)
            if not self._taken(connection, self._executor_id):
                connection.close()
                raise ValueError(f"another worker that lives has the executor id {self._executor_id}")
            self._connection = connection

    def claim_if_dead(self, executor_id: str) -> bool:
        """Whether a worker is dead; if so, nobody else is told so until `release`."""
        with self._lock:
            return self._taken(self._entered(), executor_id)

    def release(self, executor_id: str) -> None:
        """Undo `claim_if_dead`."""
        with self._lock:
            self._entered().execute("SELECT pg_advisory_unlock(%s, %s)", (SPACE, number(executor_id)))

    def leave(self) -> None:
        """Be gone."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _entered(self) -> "psycopg.Connection[tuple[Any, ...]]":
        if self._connection is None:
            raise ValueError("enter first")
        return self._connection

    @staticmethod
    def _taken(connection: "psycopg.Connection[tuple[Any, ...]]", executor_id: str) -> bool:
        row = connection.execute("SELECT pg_try_advisory_lock(%s, %s)", (SPACE, number(executor_id))).fetchone()
        return row is not None and bool(row[0])


def number(executor_id: str) -> int:
    """A worker's lock within `SPACE`: 32 bits, signed, as the server takes them. Two names that share a number are both spared, never both adopted."""
    return int.from_bytes(hashlib.sha256(executor_id.encode()).digest()[:4], signed=True)
