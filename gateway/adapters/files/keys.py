"""API keys in one file: hashes only. Whoever reads the file cannot call; whoever holds a key is one subject of one tenant.

A key reads `og_<id>_<secret>`: the id finds the entry, the secret is 256 random bits, of which the SHA-256 is kept.
No slow hash is needed for a secret that nobody chose.
"""

import contextlib
import fcntl
import hashlib
import hmac
import json
import logging
import os
import re
import secrets
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from gateway.contract.call import Caller

_log = logging.getLogger("oncegate")
_FORMAT: Final = 1
_KEY: Final = re.compile(r"og_([A-Za-z0-9]{12})_([A-Za-z0-9_-]{43})", re.ASCII)
# What an unknown id is compared with, so that it takes as long as a known one.
_NOBODY: Final = bytes(32)


class KeyFileError(Exception):
    """The file of keys cannot be read or written. One sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyEntry:
    """One key as the file keeps it. `expires_wall`: seconds since 1970, None for never."""

    key_id: str
    digest: bytes = field(repr=False)
    subject: str
    tenant: str
    permissions: tuple[str, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    created_wall: float = 0.0
    expires_wall: float | None = None

    def caller(self) -> Caller:
        """Who holds it."""
        return Caller(
            subject=self.subject,
            tenant=self.tenant,
            permissions=frozenset(self.permissions),
            attributes=dict(self.attributes),
            key_id=self.key_id,
        )


class KeyFile:
    """The keys in use, held in memory. `reload` takes a changed file; a bad one keeps the old keys and says so."""

    def __init__(self, path: Path, *, wall: Callable[[], float] = time.time) -> None:
        """`wall`: seconds since 1970 UTC, for keys that expire.

        Raises:
            KeyFileError: there is a file, and it cannot be used.
        """
        self._path = path
        self._wall = wall
        self._seen: tuple[int, int, int] | None = None
        self._entries: dict[str, tuple[KeyEntry, Caller]] = {}
        self._of_subject: dict[tuple[str, str], tuple[str, ...]] = {}
        self._take()

    def __repr__(self) -> str:
        return f"<KeyFile {self._path} {len(self._entries)} keys>"

    def __len__(self) -> int:
        """How many keys are in use, expired ones included."""
        return len(self._entries)

    def authenticate(self, token: str) -> Caller | None:
        """The caller a key stands for; None for anything else. Does the same work for every well-formed token."""
        parsed = _KEY.fullmatch(token)
        if parsed is None:
            return None
        entry, caller = self._entries.get(parsed[1], (None, None))
        digest = hashlib.sha256(parsed[2].encode()).digest()
        known = hmac.compare_digest(digest, _NOBODY if entry is None else entry.digest)
        if not known or entry is None:
            return None
        return None if self._is_over(entry) else caller

    def today(self, tenant: str, subject: str) -> tuple[Caller, ...] | None:
        """What each of a subject's keys stands for now; none where all were revoked. None: there is no file to ask."""
        if self._seen is None:
            return None
        entries = (self._entries[key_id] for key_id in self._of_subject.get((tenant, subject), ()))
        return tuple(caller for entry, caller in entries if not self._is_over(entry))

    def _is_over(self, entry: KeyEntry) -> bool:
        return entry.expires_wall is not None and self._wall() >= entry.expires_wall

    def reload(self) -> bool:
        """Take the file as it is now, if it changed. False: it cannot be read, and the old keys stay."""
        try:
            self._take()
        except KeyFileError as wrong:
            # A word, and so readable in the log: no sentence of this module says what the file holds.
            _log.error("API keys not reloaded, the known ones stay: %s", str(wrong))
            return False
        return True

    def _take(self) -> None:
        try:
            found = self._path.stat()
            # The inode too: the file is replaced, perhaps by one of the same size within one tick of its clock.
            seen = (found.st_mtime_ns, found.st_size, found.st_ino)
            if seen == self._seen:
                return
            entries = read_keys(self._path)
        except FileNotFoundError:
            _log.warning(
                "there is no file of API keys at %s yet: every call is refused until `oncegate keys create` made it",
                # A word: the log keeps no other value of ours.
                str(self._path),
            )
            self._entries, self._of_subject, self._seen = {}, {}, None
            return
        except OSError as wrong:
            raise KeyFileError(reason_of(wrong)) from wrong
        self._seen = seen
        self._entries = {entry.key_id: (entry, entry.caller()) for entry in entries}
        of_subject: dict[tuple[str, str], tuple[str, ...]] = {}
        for entry in entries:
            whose = entry.tenant, entry.subject
            of_subject[whose] = (*of_subject.get(whose, ()), entry.key_id)
        self._of_subject = of_subject


def reason_of(wrong: OSError | KeyFileError) -> str:
    """Why the file cannot be used, in one sentence without anything that it holds."""
    return f"{wrong.filename}: {wrong.strerror}." if isinstance(wrong, OSError) else str(wrong)


def read_keys(path: Path) -> tuple[KeyEntry, ...]:
    """Every key of the file, oldest first.

    Raises:
        KeyFileError: it is not a file of keys, or anybody may write it.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_mode & stat.S_IWOTH:
            raise KeyFileError(f"{path} may be written by anybody, who could add a key.")
        text = file.read()
    try:
        document = json.loads(text)
        if document["version"] != _FORMAT:
            raise KeyFileError(f"{path} was written by another version of oncegate.")
        return tuple(
            KeyEntry(
                key_id=entry["id"],
                digest=_digest(entry["sha256"]),
                subject=entry["subject"],
                tenant=entry["tenant"],
                permissions=tuple(entry["permissions"]),
                attributes=entry["attributes"],
                created_wall=entry["created"],
                expires_wall=entry["expires"],
            )
            for entry in document["keys"]
        )
    except (ValueError, KeyError, TypeError) as broken:
        raise KeyFileError(f"{path} is not a file of API keys.") from broken


def _digest(text: str) -> bytes:
    digest = bytes.fromhex(text)
    if len(digest) != len(_NOBODY):
        raise ValueError("not a SHA-256")
    return digest


def create_key(
    path: Path,
    *,
    subject: str,
    tenant: str,
    permissions: tuple[str, ...],
    attributes: Mapping[str, Any],
    expires_wall: float | None = None,
) -> tuple[str, KeyEntry]:
    """Add a key to the file, which is made when it is not there. The first value is the key, shown this once only."""
    secret = secrets.token_urlsafe(32)
    entry = KeyEntry(
        key_id="".join(secrets.choice("abcdefghijkmnpqrstuvwxyz23456789") for _ in range(12)),
        digest=hashlib.sha256(secret.encode()).digest(),
        subject=subject,
        tenant=tenant,
        permissions=permissions,
        attributes=attributes,
        created_wall=time.time(),
        expires_wall=expires_wall,
    )
    # Also before the lock, whose file would be all that a refusal leaves.
    _existing(path)
    with _locked(path):
        _write(path, (*_existing(path), entry))
    return f"og_{entry.key_id}_{secret}", entry


def revoke_key(path: Path, key_id: str) -> bool:
    """Take a key out of the file. False: there is none of this id."""
    if all(entry.key_id != key_id for entry in _existing(path)):
        return False
    with _locked(path):
        entries = _existing(path)
        kept = tuple(entry for entry in entries if entry.key_id != key_id)
        if len(kept) == len(entries):
            return False
        _write(path, kept)
        return True


def _existing(path: Path) -> tuple[KeyEntry, ...]:
    try:
        return read_keys(path)
    except FileNotFoundError:
        return ()


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Two commands at once must not lose each other's key."""
    lock = path.with_name(f".{path.name}.lock")
    held = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def _write(path: Path, entries: tuple[KeyEntry, ...]) -> None:
    """Replace the file whole: a reader sees the old one or the new one."""
    document = {
        "version": _FORMAT,
        "keys": [
            {
                "id": entry.key_id,
                "sha256": entry.digest.hex(),
                "subject": entry.subject,
                "tenant": entry.tenant,
                "permissions": list(entry.permissions),
                "attributes": dict(entry.attributes),
                "created": entry.created_wall,
                "expires": entry.expires_wall,
            }
            for entry in entries
        ],
    }
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    # A revocation that a power failure takes back would be none.
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
