"""What the store remembers, and whether it is still the memory that this process knew.

The epoch names it: a random id that the first gateway left there, and the replication ids of the servers it is on. A
server that came back empty has lost the id; one that took over from another, or that came back from its disk, has
another replication id and may lack the end of what was acknowledged. Whoever comes to it from other servers says so: one
from before a failover says of itself what it always said, and the promoted one lacks what a cut-off master took since. No
connection is used before its memory has been identified, and no script acts on a tenant whose memory is not the one the
caller knew.
"""

import asyncio
import hashlib
import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

import orjson

from gateway.adapters.redis.client import Client, Standing
from gateway.adapters.redis.packing import Value
from gateway.at_rest.hold_digests import HoldDigests
from gateway.at_rest.sealing import Sealer, key_id_of
from gateway.contract.quick import quick
from gateway.stages.execute.operation.ports import StoreUnavailableError, StoreUnfitError

_log = logging.getLogger("oncegate")

_SHARED: Final = "oncegate:{:shared}:"
_SECRET: Final = "hold_secret"  # noqa: S105 - the name of what is sealed
_SECRET_BYTES: Final = 32

_HEARD_S: Final = 2.0
"""Until every gateway has heard that the memory is another: it asks twice a second (`breakers.REFRESH_S`), sentinels once."""

SCHEMA: Final = 1
"""Of keys and scripts. Raised when an older version could not go on with what a newer one keeps."""
PIECE: Final = 500
"""Entries that one script goes through: it keeps the server for about a millisecond."""


def shared_key(name: str) -> str:
    """The key of something that tenants share."""
    return _SHARED + name


def tenant_key(tenant: str) -> str:
    """The key of a tenant's memory. Every key of the tenant has its name, escaped, as hash tag."""
    return f"oncegate:{{{quote(tenant, safe='')}}}:memory"


@dataclass(frozen=True, slots=True)
class Tenant:
    """One tenant's part of the memory. `digests` has the secret of its hold entries; the repr leaves it out."""

    name: str
    key: str
    memory: str
    digests: HoldDigests

    def __repr__(self) -> str:
        return f"<Tenant {self.name} {self.memory}>"


class Memory:
    """Identifies the store, and enrols tenants in it.

    Attributes:
        changed_at: when everybody knew that the memory is another than before, on the store's clock; None: it never was. Until
            then somebody may have gone on with an earlier one, and have ended before it could say so.
    """

    def __init__(self, client: Client, sealer: Sealer, heard: Callable[[float], None] | None = None) -> None:
        """Make one on a client. `heard` is told the largest wall time stored, of every answer."""
        self.changed_at: float | None = None
        self._client = client
        self._sealer = sealer
        self._heard = heard
        self._id = ""
        self._servers = ""
        self._since = b"0"
        self._lost = False
        self._meeting = asyncio.Lock()
        self._enrolling: dict[str, asyncio.Task[Tenant]] = {}
        self._tenants: dict[str, Tenant] = {}
        self._names: set[str] = set()
        self._turn = 0
        client.introduce(self._meet)
        client.told = self._stands

    def __repr__(self) -> str:
        return f"<Memory {self.epoch or 'not met'}, {len(self._tenants)} tenants>"

    @property
    def epoch(self) -> str:
        """Names the memory; empty before the first answer."""
        return f"{self._id}.{self._servers}" if self._id else ""

    async def ask(
        self, tenant: "str | Tenant", name: str, values: tuple[Value, ...], *, wall: float, replicas: int = 0
    ) -> "Reply":
        """Run a script on a tenant's memory.

        Raises:
            StoreUnavailableError: no answer; or the memory of this tenant is gone, and nothing was done.
        """
        known = tenant if isinstance(tenant, Tenant) else self.known(tenant) or await self.tenant(tenant)
        # The shortest digits that read back as the same number: what `repr` gives, at a tenth of its price.
        said = orjson.dumps(wall)
        told = await self._client.ask(name, known.key, (known.memory, said, *values), replicas=replicas)
        stored, status = told[1], told[2]
        if status == b"forgotten":
            self._forgotten(known)
            raise StoreUnavailableError("the store has lost its memory of this tenant")
        if self._heard is not None:
            self._heard(wall if stored == said else float(stored))
        return Reply(told[0], status.decode(), told[3:])

    def known(self, tenant: str) -> "Tenant | None":
        """The tenant's part of the memory, where this process knows it already."""
        return self._tenants.get(tenant)

    async def tenant(self, name: str) -> Tenant:
        """The tenant's part of the memory, made if there is none.

        Raises:
            StoreUnavailableError: no answer.
            SealError: what is there was sealed with a key that is missing or another one.
        """
        known = self._tenants.get(name)
        if known is not None:
            return known
        task = self._enrolling.get(name)
        if task is None:
            task = self._enrolling[name] = asyncio.create_task(self._enrol(name))
            task.add_done_callback(self._enrolled)
        # All who ask share one task; one that is cancelled does not cancel it for the others.
        return await asyncio.shield(task)

    def _enrolled(self, task: "asyncio.Task[Tenant]") -> None:
        self._enrolling = {name: other for name, other in self._enrolling.items() if other is not task}
        if not task.cancelled():
            # Whoever still waits gets the exception. Where nobody does, asking for it here keeps asyncio from logging it.
            task.exception()

    async def _enrol(self, name: str) -> Tenant:
        # The name goes on the list first: the sweeper finds tenants there, and must find each that has records.
        await self.names(name)
        key = tenant_key(name)
        made = self._sealer.seal(secrets.token_bytes(_SECRET_BYTES), bound_to=_SECRET)
        _, memory, stored = await self._client.ask("enroll", key, (secrets.token_hex(8), made, "", ""))
        secret = _opened(stored, self._sealer)
        if key_id_of(stored) != self._sealer.current:
            resealed = self._sealer.seal(secret, bound_to=_SECRET)
            await self._client.ask("enroll", key, ("", "", stored, resealed))
        tenant = Tenant(name, key, memory.decode(), HoldDigests(secret))
        self._tenants[name] = tenant
        return tenant

    async def names(self, *more: str) -> tuple[str, ...]:
        """Every tenant there is. Those that this process knows are told again: the list may have been lost alone."""
        self._names.update(more)
        _, told, standing = await self._client.ask("tenants", shared_key("tenants"), tuple(sorted(self._names)))
        self._stands(standing)
        return tuple(sorted(name.decode() for name in told))

    async def names_in_turn(self) -> tuple[str, ...]:
        """The same, each time beginning with another: the first must not take everything, every time."""
        names = await self.names()
        self._turn += 1
        first = self._turn % len(names) if names else 0
        return (*names[first:], *names[:first])

    def _forgotten(self, tenant: Tenant) -> None:
        if self._tenants.get(tenant.name) is tenant:
            _log.error("the store has lost what it knew of a tenant: plain writes wait until nothing old can act")
            self._lost = True
            self._tenants.clear()
            self._client.accepted = frozenset()

    def _stands(self, told: Standing) -> None:
        """Hear what others found out, and whether the server is still the master that was met."""
        identity, since, server = told
        if server.decode() not in self._client.accepted or identity.decode() != self._id:
            # An answer that is older than the last meeting says so, too: then it is met once more, and nothing is new.
            self._client.renew(shared_key("memory"))
        elif since != b"0":
            self._found(since, is_news=True)

    def _found(self, since: bytes, *, is_news: bool) -> None:
        if since == self._since:
            return
        self._since, at = since, float(since)
        self.changed_at = at + _HEARD_S if at else None
        if is_news and at:
            _log.error(
                "the store's memory is another than this process knew, or lacks its end (a failover, a restart, a loss):"
                " plain writes wait until nothing old can act"
            )

    async def _meet(self) -> None:
        """Identify the memory that the servers have now, and accept them."""
        async with self._meeting:
            memories = await self._client.memories()
            if memories <= self._client.accepted and not self._lost:
                return
            servers = hashlib.sha256(" ".join(sorted(memories)).encode()).hexdigest()[:16]
            known, lost = self._id, self._lost
            told = await self._client.ask(
                "identify",
                shared_key("memory"),
                (secrets.token_hex(8), servers, known, int(lost), SCHEMA, self._servers),
                met=False,
            )
            if int(told[3]) != SCHEMA:
                raise StoreUnfitError(f"its records have schema {int(told[3])}, and this version knows {SCHEMA}")
            self._id, self._servers, self._lost = told[1].decode(), servers, False
            self._found(told[2], is_news=known != "")
            if known and known != self._id:
                self._tenants.clear()
            self._client.accepted = memories


@quick
@dataclass(frozen=True, slots=True)
class Reply:
    """What a script on a tenant's memory answered.

    Attributes:
        now: the store's clock, seconds, when the script ran.
    """

    now: float
    status: str
    values: list[Any]


def text_of(told: Any) -> str:
    """A score or an id of a reply: scripts tell either, and an empty text for none."""
    return told.decode() if isinstance(told, bytes) else str(told)


def _opened(stored: bytes, sealer: Sealer) -> bytes:
    """Open a secret, which may have been stored before there was a seal key."""
    return (Sealer() if key_id_of(stored) is None else sealer).open(stored, bound_to=_SECRET)
