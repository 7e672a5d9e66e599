"""The tables, as steps: a database of any earlier step is brought to the last one in one transaction."""

from typing import Final

from agent_client.checkpoints.sessions import Session

_TABLES: Final = (
    """CREATE TABLE checkpoint_tasks (
        task_id TEXT NOT NULL PRIMARY KEY,
        position BIGINT NOT NULL, version BIGINT NOT NULL,
        created_wall DOUBLE PRECISION NOT NULL, updated_wall DOUBLE PRECISION NOT NULL,
        task_type TEXT NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL, finished SMALLINT NOT NULL,
        wake_at_wall DOUBLE PRECISION, pinned_version BIGINT,
        last TEXT NOT NULL, digest TEXT NOT NULL)""",
    """CREATE TABLE checkpoint_entries (
        task_id TEXT NOT NULL, position BIGINT NOT NULL, version BIGINT NOT NULL,
        kind TEXT NOT NULL, at_wall DOUBLE PRECISION NOT NULL, body TEXT NOT NULL, digest TEXT NOT NULL,
        PRIMARY KEY (task_id, position))""",
    """CREATE TABLE checkpoint_snapshots (
        task_id TEXT NOT NULL, position BIGINT NOT NULL, version BIGINT NOT NULL,
        body TEXT NOT NULL, after TEXT NOT NULL, digest TEXT NOT NULL,
        PRIMARY KEY (task_id, position))""",
)
_INDEXES: Final = (
    # The two questions a sweeper asks: what is due, and what has nobody written to.
    "CREATE INDEX checkpoint_tasks_due ON checkpoint_tasks (wake_at_wall) WHERE wake_at_wall IS NOT NULL",
    "CREATE INDEX checkpoint_tasks_updated ON checkpoint_tasks (updated_wall)",
)
STEPS: Final = (_TABLES, _INDEXES)
VERSION: Final = len(STEPS)


class SchemaTooNewError(Exception):
    """The database was written by a newer version of this package, whose tables this one does not know."""


def upgrade(session: Session) -> None:
    """Bring the tables to `VERSION`; inside a transaction that writes.

    Raises:
        SchemaTooNewError: they are further.
    """
    session.execute("CREATE TABLE IF NOT EXISTS checkpoint_schema (version BIGINT NOT NULL)")
    rows, _ = session.execute("SELECT MAX(version) FROM checkpoint_schema")
    found = int(rows[0][0] or 0)
    if found > VERSION:
        raise SchemaTooNewError(f"the checkpoints have schema {found}, and this version knows {VERSION}")
    for number, step in enumerate(STEPS[found:], start=found + 1):
        for statement in step:
            session.execute(statement)
        session.execute("INSERT INTO checkpoint_schema (version) VALUES (?)", (number,))
