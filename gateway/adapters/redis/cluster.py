"""The masters of a cluster, by the slots that they have."""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, NamedTuple

from redis.crc import key_slot
from redis.exceptions import ConnectionError as NotConnectedError
from redis.exceptions import RedisError

from gateway.adapters.redis.address import Node
from gateway.adapters.redis.guides import Guides, ask
from gateway.adapters.redis.pool import Login, Pool

_SLOTS: Final = 16384
_BEHIND: Final = (
    "The nodes of the cluster that answer name a master from before a change of slots that is known (a lower config epoch);"
    " if the cluster was set up anew, restart the gateway."
)
_log = logging.getLogger("oncegate")


class Claim(NamedTuple):
    """A master has these slots, `first` to `last`, as of the change with that number (config epoch). `node` is its id."""

    epoch: int
    node: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Word:
    """What a node says: who has which slots, and where each node is, by its id."""

    claims: frozenset[Claim]
    places: Mapping[str, Node]


class Cluster:
    """A cluster's masters. A slot on its way to another master is away until it is there.

    Every node that is known is asked, all at once, and again while they are in use. Each failover and each move of slots has a
    higher number than those before it, and the highest decides, slot by slot. A master that was cut off, or hung, goes on saying
    that it has its slots, and takes writes; so nobody is led back to one from before a change that is known of, whoever names it.
    """

    def __init__(self, nodes: tuple[Node, ...], login: Login) -> None:
        self._seeds = nodes
        self._login = login
        self._places: dict[str, Node] = {}
        self._believed: tuple[Claim, ...] = ()
        self._heard: frozenset[Claim] = frozenset()
        self._pools: dict[Node, Pool] = {}
        self._by_slot: list[Pool | None] = [None] * _SLOTS
        self._known = False
        self._is_behind = False
        self._asking = asyncio.Lock()
        self._guides = Guides(nodes, "A node of the cluster does not say who has the slots", self._follow)

    @property
    def caveats(self) -> tuple[str, ...]:
        return (*self._guides.caveats, *((_BEHIND,) if self._is_behind else ()))

    async def pool_of(self, key: str) -> Pool:
        await self._learn()
        pool = self.near(key)
        if pool is None:
            raise NotConnectedError("no node has the slot")
        return pool

    def near(self, key: str) -> Pool | None:
        if not self._known:
            return None
        self._guides.used()
        return self._by_slot[key_slot(key.encode())]

    async def masters(self) -> tuple[Pool, ...]:
        await self._learn()
        return tuple(self._pools.values())

    def forget(self) -> None:
        # The numbers stay: a master from before them has not become the right one because this one does not answer.
        self._known = False

    def close(self) -> None:
        self._guides.close()
        for pool in self._pools.values():
            pool.close()

    async def _learn(self) -> None:
        if not self._known:
            async with self._asking:
                if not self._known:
                    await self._ask()

    async def _follow(self) -> None:
        async with self._asking:
            await self._ask()

    async def _ask(self) -> None:
        nodes = dict.fromkeys((*self._places.values(), *self._seeds))
        words = tuple((await self._guides.ask(nodes, self._word_of)).values())
        if not words:
            raise NotConnectedError("no node of the cluster says who has the slots")
        votes = Counter([claim for word in words for claim in word.claims])
        places = self._placed(words)
        heard = frozenset(votes)
        if heard != self._heard or places != self._places:
            self._places = places
            self._believe(heard, votes)
        self._known = True
        self._guides.believed()

    def _placed(self, words: tuple[Word, ...]) -> dict[str, Node]:
        """Where each node is that anybody names, and each master."""
        named = dict.fromkeys([node for word in words for node in word.places])
        masters = {claim.node: self._places[claim.node] for claim in self._believed}
        return masters | {node: self._place_of(node, words) for node in named}

    def _place_of(self, node: str, words: tuple[Word, ...]) -> Node:
        """Where most say; on a tie where it was."""
        votes = Counter([word.places[node] for word in words if node in word.places])
        known = self._places.get(node)
        return max(votes, key=lambda place: (votes[place], place == known))

    def _believe(self, heard: frozenset[Claim], votes: "Counter[Claim]") -> None:
        """Give each slot to the master with the highest number; among equal ones it stays with whom it is."""
        said = _painted(sorted(heard, key=lambda claim: (claim.epoch, votes[claim])))
        before = frozenset(self._believed)
        owners = _painted(
            sorted(before | heard, key=lambda claim: (claim.epoch, claim in before, votes[claim])),
        )
        self._heard = heard
        self._believed = _claims(owners)
        self._note(any(s is not None and o is not None and s[0] < o[0] for s, o in zip(said, owners, strict=True)))
        places = {claim.node: self._places[claim.node] for claim in self._believed}
        used = {place: self._pools.get(place) or Pool(place, self._login) for place in places.values()}
        for place, pool in self._pools.items():
            if place not in used:
                pool.close()
        self._pools = used
        self._by_slot = [None if owner is None else used[places[owner[1]]] for owner in owners]

    def _note(self, is_behind: bool) -> None:  # noqa: FBT001 - it is what is noted
        if is_behind and not self._is_behind:
            _log.warning("%s", _BEHIND)
        self._is_behind = is_behind

    async def _word_of(self, node: Node) -> Word | None:
        """What a node says; None: nothing that can be used."""
        try:
            # Numbers are only in the one, and which name of a node clients are to use only in the other.
            lines, slots = await ask(self._guides.names, node, self._login, ("CLUSTER", "NODES"), ("CLUSTER", "SLOTS"))
            word = _word(lines.decode(), slots, node)
        except (RedisError, OSError, ValueError, TypeError, LookupError, AttributeError):
            # It does not answer, or is no node of a cluster.
            return None
        # One that came back without its file of nodes knows nobody: that is no word about them.
        return word if word.claims else None


def _word(lines: str, slots: Any, asked: Node) -> Word:
    claims: set[Claim] = set()
    places: dict[str, Node] = {}
    for line in lines.splitlines():
        name, address, flags, _, _, _, epoch, _, *ranges = line.split(" ")
        host, _, port = address.partition("@")[0].rpartition(":")
        if int(port) == 0 or "handshake" in flags or "noaddr" in flags:
            continue
        # An empty name stands for the one that the node was asked under.
        places[name] = (host or asked[0], int(port))
        for each in ranges:
            if not each.startswith("["):
                first, _, last = each.partition("-")
                claims.add(Claim(int(epoch), name, int(first), int(last or first)))
    for _, _, *nodes in slots:
        for host_told, port_told, name_told, *_ in nodes:
            if host_told != b"?" and (name := name_told.decode()) in places:
                places[name] = ((host_told or b"").decode() or asked[0], port_told)
    return Word(frozenset(claims), places)


_Owner = tuple[int, str]


def _painted(claims: Iterable[Claim]) -> list[_Owner | None]:
    """Each slot's owner, as number and id: the last of those who claim it."""
    owners: list[_Owner | None] = [None] * _SLOTS
    for epoch, node, first, last in claims:
        owners[first : last + 1] = [(epoch, node)] * (last + 1 - first)
    return owners


def _claims(owners: list[_Owner | None]) -> tuple[Claim, ...]:
    found: list[Claim] = []
    slot = 0
    for owner, group in groupby(owners):
        count = len(list(group))
        if owner is not None:
            found.append(Claim(*owner, slot, slot + count - 1))
        slot += count
    return tuple(found)
