"""Sentinels over a master and its replica, and a cluster of three masters: real servers, as `redis_servers` starts them."""

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import redis

from tests.redis_servers import Server, free_port, start, start_sentinel, wait_until

MASTER = "records"


@dataclass(frozen=True, kw_only=True)
class Watched:
    """A master, its replica, and three sentinels that watch them."""

    master: Server
    replica: Server
    sentinels: tuple[Server, ...]

    @property
    def url(self) -> str:
        """As ONCEGATE_STORE has it."""
        hosts = ",".join(f"127.0.0.1:{sentinel.port}" for sentinel in self.sentinels)
        return f"redis+sentinel://{hosts}/{MASTER}"

    def fail_over(self, *, killed: bool = True) -> None:
        """Kill the master, or let it hang, and wait until the replica has taken over."""
        if killed:
            self.master.kill()
        else:
            self.master.pause()
        wait_until(lambda: self.replica.client.role()[0] == "master", within_s=20.0)
        wait_until(
            lambda: all(
                cast("Any", it.client.sentinel_get_master_addr_by_name(MASTER))[1] == self.replica.port
                for it in self.sentinels
            ),
            within_s=20.0,
        )


@contextlib.contextmanager
def watched(kind: str) -> Iterator[Watched]:
    """Start them and wait until every sentinel knows everybody."""
    folder = Path(tempfile.mkdtemp(prefix="oncegate-sentinel-"))
    with contextlib.ExitStack() as stack:
        # Without the delay a replica waits 5 s for others that might come.
        master = start(kind, free_port(), "--repl-diskless-sync-delay", "0")
        stack.callback(master.close)
        replica = start(kind, free_port(), "--replicaof", "127.0.0.1", str(master.port))
        stack.callback(replica.close)
        wait_until(lambda: bool(master.client.set("x", "x")) and master.client.wait(1, 100) == 1)
        sentinels = []
        for n in range(3):
            config = folder / f"{n}.conf"
            config.write_text(
                f"dir {folder}\nsentinel monitor {MASTER} 127.0.0.1 {master.port} 2\n"
                f"sentinel down-after-milliseconds {MASTER} 500\nsentinel failover-timeout {MASTER} 3000\n"
            )
            sentinels.append(start_sentinel(kind, free_port(), config))
            stack.callback(sentinels[-1].close)
        made = Watched(master=master, replica=replica, sentinels=tuple(sentinels))
        wait_until(lambda: all(_knows_all(sentinel) for sentinel in sentinels), within_s=20.0)
        yield made


@dataclass(frozen=True, kw_only=True)
class Clustered:
    """Three masters, a third of the slots each."""

    nodes: tuple[Server, ...]

    @property
    def url(self) -> str:
        """As ONCEGATE_STORE has it: two of the nodes are enough to find the third."""
        return "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in self.nodes[:2])


@contextlib.contextmanager
def clustered(kind: str) -> Iterator[Clustered]:
    """Start them and wait until each of them finds the cluster whole."""
    with contextlib.ExitStack() as stack:
        nodes, buses = [], []
        for _ in range(3):
            buses.append(free_port())
            # Else the bus is at the port + 10000, which may be none.
            node = start(kind, free_port(), "--cluster-enabled", "yes", "--cluster-port", str(buses[-1]))
            stack.callback(node.close)
            nodes.append(node)
        for n, node in enumerate(nodes):
            first, last = n * 16384 // 3, (n + 1) * 16384 // 3 - 1
            node.client.execute_command("CLUSTER", "ADDSLOTSRANGE", first, last)
            node.client.execute_command("CLUSTER", "SET-CONFIG-EPOCH", n + 1)
        for n in (1, 2):
            nodes[0].client.execute_command("CLUSTER", "MEET", "127.0.0.1", nodes[n].port, buses[n])
        wait_until(lambda: all(_is_whole(node) for node in nodes), within_s=20.0)
        yield Clustered(nodes=tuple(nodes))


def _knows_all(sentinel: Server) -> bool:
    told = cast("Any", sentinel.client.sentinel_master(MASTER))
    return bool(told["num-other-sentinels"] == 2 and told["num-slaves"] == 1)


def _is_whole(node: Server) -> bool:
    try:
        told = str(node.client.execute_command("CLUSTER", "INFO"))
    except redis.RedisError:
        return False
    return "cluster_state:ok" in told and "cluster_known_nodes:3" in told
