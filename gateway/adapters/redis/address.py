"""Where the store is, as `ONCEGATE_STORE` says it.

    redis://[USER@]HOST[:PORT][/DATABASE]                     one server
    redis+sentinel://HOST[:PORT],HOST…/MASTER[/DATABASE]      the master that these sentinels name
    redis+cluster://[USER@]HOST[:PORT],HOST…                  a cluster, asked at any of these nodes

`rediss` instead of `redis` speaks TLS. A password is no part of it: addresses are logged and shown.
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final
from urllib.parse import unquote, urlsplit

_PORT: Final = 6379
_SENTINEL_PORT: Final = 26379

Node = tuple[str, int]
"""Host and port."""


class Kind(Enum):
    ONE = auto()
    SENTINEL = auto()
    CLUSTER = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A parsed address.

    Attributes:
        nodes: the server, the sentinels, or the cluster's nodes to begin with.
        master: the name that sentinels know the master by.
    """

    kind: Kind
    nodes: tuple[Node, ...]
    tls: bool = False
    username: str | None = None
    master: str = ""
    database: int = 0


_KINDS: Final = {"": Kind.ONE, "sentinel": Kind.SENTINEL, "cluster": Kind.CLUSTER}


def parse_address(url: str) -> Address:
    """Read an address.

    Raises:
        ValueError: it is none. The message never repeats what may be a password.
    """
    scheme, _, rest = url.partition("://")
    protocol, _, kind_name = scheme.partition("+")
    if protocol not in ("redis", "rediss") or kind_name not in _KINDS or "?" in rest or "#" in rest:
        raise ValueError(
            "a store address is redis://, redis+sentinel:// or redis+cluster://, with nothing after the path"
        )
    kind = _KINDS[kind_name]
    authority, _, path = rest.partition("/")
    user, _, hosts = authority.rpartition("@")
    if ":" in user:
        raise ValueError("a password is no part of the store's address; it comes from the environment")
    default = _SENTINEL_PORT if kind is Kind.SENTINEL else _PORT
    nodes = tuple(_node(host, default) for host in hosts.split(","))
    if kind is Kind.ONE and len(nodes) > 1:
        raise ValueError("several hosts are redis+sentinel:// or redis+cluster://")
    parts = [part for part in path.split("/") if part]
    master = parts.pop(0) if kind is Kind.SENTINEL and parts else ""
    if kind is Kind.SENTINEL and not master:
        raise ValueError("redis+sentinel:// ends in the master's name")
    if len(parts) > 1 or not all(part.isdecimal() for part in parts) or (parts and kind is Kind.CLUSTER):
        raise ValueError("after the host comes the database's number, and nothing for a cluster")
    return Address(
        kind=kind,
        nodes=nodes,
        tls=protocol == "rediss",
        username=unquote(user) or None,
        master=unquote(master),
        database=int(parts[0]) if parts else 0,
    )


def _node(text: str, default: int) -> Node:
    try:
        split = urlsplit(f"//{text}")
        host, port = split.hostname, split.port
    except ValueError:
        host, port = None, None
    if not host:
        raise ValueError("each host of a store address is HOST or HOST:PORT")
    return host, port or default
