"""The provider's books: one row for every effect, one for every request that arrived.

The figure of every scenario is the number of rows in `effects`; nothing else in the demo counts anything.
Times are seconds since 1970 UTC, amounts are paise.
"""

import json
import sqlite3
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

SCHEMA = """
CREATE TABLE IF NOT EXISTS effects (
    number INTEGER PRIMARY KEY, at REAL NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL, reference TEXT NOT NULL,
    payment TEXT, amount_paise INTEGER, idempotency_key TEXT, fingerprint TEXT NOT NULL, answer TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS effects_of_a_subject ON effects (subject);
CREATE INDEX IF NOT EXISTS effects_of_a_key ON effects (idempotency_key);
CREATE TABLE IF NOT EXISTS refusals (
    idempotency_key TEXT PRIMARY KEY, at REAL NOT NULL, fingerprint TEXT NOT NULL, status INTEGER NOT NULL,
    answer TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS requests (
    number INTEGER PRIMARY KEY, at REAL NOT NULL, method TEXT NOT NULL, path TEXT NOT NULL, subject TEXT NOT NULL,
    idempotency_key TEXT, body TEXT NOT NULL);
"""

FIRST_REFUND = 99_201
"""So that the third refund of the incident is RF-99203, as in its log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """Something the provider did: money went back, a message went out."""

    number: int
    at: float
    kind: str
    subject: str
    reference: str
    payment: str | None
    amount_paise: int | None
    idempotency_key: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswer:
    """What a key was answered with, and for which body."""

    fingerprint: str
    status: int
    answer: dict[str, Any]


class Ledger:
    """One SQLite file, written by one process."""

    def __init__(self, path: Path | str) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.row_factory = sqlite3.Row
        self._db.executescript(SCHEMA)

    def note_request(self, *, method: str, path: str, subject: str, key: str | None, body: bytes) -> int:
        """Write down that a request arrived; returns its number."""
        row = (time.time(), method, path, subject, key, body.decode("utf-8", "replace"))
        insert = "INSERT INTO requests (at, method, path, subject, idempotency_key, body) VALUES (?, ?, ?, ?, ?, ?)"
        return int(self._db.execute(insert, row).lastrowid or 0)

    def refund(
        self, *, order: str, payment: str, amount_paise: int, key: str | None, fingerprint: str
    ) -> dict[str, Any]:
        """Give money back, and return the answer that says so."""
        reference = f"RF-{FIRST_REFUND + self.count()}"
        answer = {"refund_id": reference, "status": "settled", "order_id": order, "amount_paise": amount_paise}
        self._insert("refund", order, reference, payment, amount_paise, key, fingerprint, answer)
        return answer

    def notify(self, *, customer: str, key: str | None, fingerprint: str) -> dict[str, Any]:
        """Send a customer a message, and return the answer that says so."""
        reference = f"MSG-{1 + self.count()}"
        answer = {"message_id": reference, "status": "sent"}
        self._insert("notification", customer, reference, None, None, key, fingerprint, answer)
        return answer

    def _insert(self, *row: Any) -> None:
        kind, subject, reference, payment, amount, key, fingerprint, answer = row
        self._db.execute(
            "INSERT INTO effects (at, kind, subject, reference, payment, amount_paise, idempotency_key, fingerprint, answer)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (time.time(), kind, subject, reference, payment, amount, key, fingerprint, json.dumps(answer)),
        )

    def refuse(self, *, key: str, fingerprint: str, status: int, answer: dict[str, Any]) -> None:
        """Keep a refusal under its key: whoever asks again is refused again."""
        insert = "INSERT INTO refusals (idempotency_key, at, fingerprint, status, answer) VALUES (?, ?, ?, ?, ?)"
        self._db.execute(insert, (key, time.time(), fingerprint, status, json.dumps(answer)))

    def stored_answer(self, key: str) -> StoredAnswer | None:
        """The answer that was given under this key, or None if it is new."""
        select = (
            "SELECT fingerprint, 200 AS status, answer FROM effects WHERE idempotency_key = ?1"
            " UNION ALL SELECT fingerprint, status, answer FROM refusals WHERE idempotency_key = ?1 LIMIT 1"
        )
        row = self._db.execute(select, (key,)).fetchone()
        if row is None:
            return None
        return StoredAnswer(fingerprint=row["fingerprint"], status=row["status"], answer=json.loads(row["answer"]))

    def effects(self, subject: str | None = None) -> list[Effect]:
        """Every effect, or those of one order or customer, oldest first."""
        select = (
            "SELECT number, at, kind, subject, reference, payment, amount_paise, idempotency_key FROM effects"
            " WHERE ?1 IS NULL OR subject = ?1 ORDER BY number"
        )
        return [Effect(**dict(row)) for row in self._db.execute(select, (subject,))]

    def count(self, subject: str | None = None) -> int:
        """How many effects there are, of one order or customer or of all."""
        select = "SELECT count(*) FROM effects WHERE ?1 IS NULL OR subject = ?1"
        return int(self._db.execute(select, (subject,)).fetchone()[0])

    def requests(self, subject: str | None = None) -> list[dict[str, Any]]:
        """Every request that arrived, oldest first, also those that had no effect."""
        select = "SELECT * FROM requests WHERE ?1 IS NULL OR subject = ?1 ORDER BY number"
        return [dict(row) for row in self._db.execute(select, (subject,))]

    def report(self, subject: str | None = None) -> dict[str, Any]:
        """The whole ledger as one JSON value."""
        effects = [asdict(effect) for effect in self.effects(subject)]
        return {"count": len(effects), "effects": effects, "requests": self.requests(subject)}

    def close(self) -> None:
        """Close the file."""
        self._db.close()
