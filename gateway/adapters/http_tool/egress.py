"""Which addresses a request may go to. A name is no protection: what is checked is the address connected to."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

Address = IPv4Address | IPv6Address
_Network = IPv4Network | IPv6Network

_LOOPBACK: Final = "127.0.0.1"
"""What `localhost` and the names below it stand for, whatever a name service says (RFC 6761 6.3)."""


def _networks(*texts: str) -> tuple[_Network, ...]:
    return tuple(ip_network(text) for text in texts)


# `is_global` calls these global although they are multicast, retired, set aside (RFC 6890, 9602, 9637; a cloud keeps
# credentials at 192.0.0.192), or carry an IPv4 address inside.
_NEVER: Final = _networks(
    "224.0.0.0/4",
    "192.0.0.0/24",
    "192.88.99.0/24",
    "ff00::/8",
    "fec0::/10",
    "3fff::/20",
    "5f00::/16",
    "::/96",
    "64:ff9b::/96",
    "64:ff9b:1::/48",
    "2001::/32",
    "2002::/16",
)
# What an operator can mean by a private host. Link-local is not in it: that is where clouds keep their credentials.
_PRIVATE: Final = _networks(
    "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "127.0.0.0/8", "::1/128", "fc00::/7"
)


def parse_host_port(text: str) -> tuple[str, int]:
    """`HOST:PORT` in parts; an IPv6 address stands in brackets.

    Raises:
        ValueError: there is no port, or none that exists.
    """
    host, colon, digits = text.strip().rpartition(":")
    if not colon or not host or not (digits.isascii() and digits.isdigit()) or not 0 < int(digits) < 65_536:
        raise ValueError(f"`{text}` is not HOST:PORT")
    if ":" in host and not (host.startswith("[") and host.endswith("]")):
        raise ValueError(f"`{text}`: an IPv6 address stands in brackets")
    return host.strip("[]").lower(), int(digits)


def unmapped(address: Address) -> Address:
    """The IPv4 address inside `::ffff:a.b.c.d`, which is what the kernel would connect to; others unchanged."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


class EgressPolicy:
    """Public addresses, and what an operator names.

    An entry by name opens private and loopback addresses of that host and port. Only an entry by the address itself
    opens a link-local one. Multicast, unspecified and translated addresses are never open.
    """

    def __init__(self, allow_private: Iterable[str] = ()) -> None:
        """Take the operator's `HOST:PORT` entries.

        Raises:
            ValueError: an entry is not one.
        """
        self._named = frozenset(parse_host_port(entry) for entry in allow_private)

    def allows(self, host: str, port: int, address: Address) -> bool:
        """Whether a request to `host` may be connected to `address`, one of those it resolves to."""
        address = unmapped(address)
        if address.is_global and not _in(address, _NEVER):
            return True
        if (host, port) not in self._named:
            return False
        return _in(address, _PRIVATE) or (address.is_link_local and _is_literally(host, address))

    def advice(self, host: str, port: int, addresses: Iterable[Address]) -> str:
        """What an operator can do about a refusal of all of `addresses`; a sentence without its full stop."""
        entry = f"{f'[{host}]' if ':' in host else host}:{port}"
        if any(EgressPolicy((entry,)).allows(host, port, address) for address in addresses):
            return f"if it is meant, serve with --allow-private {entry}"
        return "no setting opens it"

    def refuses_literally(self, host: str, port: int) -> str | None:
        """`advice`, when the host as it is written will be refused; None when it will not, or only its name service knows."""
        try:
            address = ip_address(_LOOPBACK if host == "localhost" or host.endswith(".localhost") else host)
        except ValueError:
            return None
        return None if self.allows(host, port, address) else self.advice(host, port, (address,))


def _in(address: Address, networks: tuple[_Network, ...]) -> bool:
    return any(address.version == network.version and address in network for network in networks)


def _is_literally(host: str, address: Address) -> bool:
    try:
        return unmapped(ip_address(host)) == address
    except ValueError:
        return False
