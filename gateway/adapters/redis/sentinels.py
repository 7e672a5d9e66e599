"""The master that the sentinels name."""

import asyncio
from collections import Counter

from redis.exceptions import ConnectionError as NotConnectedError
from redis.exceptions import RedisError

from gateway.adapters.redis.address import Node
from gateway.adapters.redis.guides import Guides, ask
from gateway.adapters.redis.pool import Login, Pool

Word = tuple[int, Node]
"""What a sentinel says: the epoch of the failover that it knows of last (`config-epoch`), and the master since then."""


class Sentinels:
    """The master as the sentinels see it: the one of the latest failover that any of them knows of.

    One that was cut off, or hung, names the old master for some seconds more, and that one takes writes until it is made a
    replica; so nobody is led back to a master from before a failover that is known of, whoever names it.

    They are asked again while it is in use, too: in a failover that somebody has ordered the old master is well, and takes for some
    ten seconds more what will be lost when it is made a replica.
    """

    def __init__(self, sentinels: tuple[Node, ...], master: str, login: Login) -> None:
        self._sentinels = sentinels
        self._name = master
        self._login = login
        self._pool: Pool | None = None
        self._epoch = 0
        self._known = False
        self._asking = asyncio.Lock()
        self._guides = Guides(sentinels, "A sentinel does not say who the master is", self._follow)

    @property
    def caveats(self) -> tuple[str, ...]:
        return self._guides.caveats

    async def pool_of(self, key: str) -> Pool:
        pool = self.near(key)
        if pool is not None:
            return pool
        async with self._asking:
            if self._pool is None or not self._known:
                self._pool = self._led_to(*await self._ask())
            return self._pool

    def near(self, key: str) -> Pool | None:
        del key
        if not self._known:
            return None
        self._guides.used()
        return self._pool

    async def masters(self) -> tuple[Pool, ...]:
        return (await self.pool_of(""),)

    def forget(self) -> None:
        # The epoch stays: a master from before it has not become the right one because this one does not answer.
        self._known = False

    def close(self) -> None:
        self._guides.close()
        if self._pool is not None:
            self._pool.close()

    async def _follow(self) -> None:
        async with self._asking:
            self._pool = self._led_to(*await self._ask())

    def _led_to(self, word: Word, voices: int) -> Pool:
        """The connections to this master, which so many name; those to another are given up.

        Raises:
            NotConnectedError: it is another than the one that is followed, and from before it or named by few.
        """
        epoch, node = word
        pool = self._pool
        if pool is None or pool.node != node:
            if epoch < self._epoch:
                raise NotConnectedError(
                    f"the sentinels that answer name a master {self._name} from before a failover (config-epoch {epoch},"
                    f" known is {self._epoch}); if they were set up anew, restart the gateway"
                )
            if pool is not None:
                # A sentinel that is reset in the midst of a failover names the old master again, with the new number.
                if epoch == self._epoch and voices * 2 <= len(self._sentinels):
                    raise NotConnectedError(
                        f"{voices} of {len(self._sentinels)} sentinels name another master {self._name} than the one that is"
                        f" known of the same failover (config-epoch {epoch}), and the others do not answer, or do not agree"
                    )
                pool.close()
            pool = Pool(node, self._login)
        self._epoch = max(self._epoch, epoch)
        self._known = True
        self._guides.believed()
        return pool

    async def _ask(self) -> tuple[Word, int]:
        """The word with the highest epoch, and how many say so."""
        words = list((await self._guides.ask(self._sentinels, self._word_of)).values())
        if not words:
            raise NotConnectedError(f"no sentinel names a master {self._name}")
        epoch = max(words)[0]
        votes = Counter([node for its, node in words if its == epoch])
        followed = None if self._pool is None else self._pool.node
        node = max(votes, key=lambda node: (votes[node], node == followed))
        return (epoch, node), votes[node]

    async def _word_of(self, sentinel: Node) -> Word | None:
        """What a sentinel says of the master; None: nothing that can be used.

        The epoch is asked for first. Sentinel changes epoch and address in one step: the one that leads a failover when the promoted
        replica says that it is a master (`SENTINEL MASTER` goes on showing the old address until the others have been told,
        `GET-MASTER-ADDR-BY-NAME` does not), each other one when it hears of that. So the address, read later, is that of this epoch
        or of a later one; the other way round an old address could come with the new epoch, and would be followed.
        """
        name = self._name
        try:
            master, address = await ask(
                self._guides.names,
                sentinel,
                Login(tls=self._login.tls),
                ("SENTINEL", "MASTER", name),
                ("SENTINEL", "GET-MASTER-ADDR-BY-NAME", name),
            )
            told = master if isinstance(master, dict) else dict(zip(master[::2], master[1::2], strict=True))
            return int(told[b"config-epoch"]), (address[0].decode(), int(address[1]))
        except (RedisError, OSError, ValueError, TypeError, LookupError, AttributeError):
            # It does not answer, does not know the master, or is no sentinel.
            return None
