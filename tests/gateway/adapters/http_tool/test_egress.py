"""Which addresses are let through."""

from ipaddress import ip_address

import pytest

from gateway.adapters.http_tool.egress import EgressPolicy, parse_host_port, unmapped

# Loopback, private, link-local, unspecified, multicast, documentation, reserved, and IPv4 hidden in IPv6.
CLOSED = [
    "127.0.0.1",
    "127.1.2.3",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "0.1.2.3",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "192.0.2.1",
    "198.51.100.1",
    "203.0.113.1",
    "198.18.0.1",
    "192.0.0.1",
    "192.88.99.1",
    "192.0.0.192",
    "3fff::1",
    "5f00::1",
    "::1",
    "::",
    "::127.0.0.1",
    "::169.254.169.254",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:10.0.0.1",
    "fe80::1",
    "fec0::1",
    "fc00::1",
    "fd00:ec2::254",
    "ff02::1",
    "2001:db8::1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a9fe:a9fe",
    "2002:a9fe:a9fe::",
    "2002:7f00:1::",
    "2001:0:a9fe:a9fe::1",
    "100::1",
]
OPEN = ["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "::ffff:1.1.1.1"]


@pytest.mark.parametrize("address", CLOSED)
def test_only_public_addresses_are_open(address: str) -> None:
    """However a private address is written, it is not."""
    assert not EgressPolicy().allows("pay.example", 443, ip_address(address))


@pytest.mark.parametrize("address", OPEN)
def test_public_addresses_are_open(address: str) -> None:
    """Without anybody's word."""
    assert EgressPolicy().allows("pay.example", 443, ip_address(address))


@pytest.mark.parametrize(
    ("entry", "host", "port", "address", "allowed"),
    [
        ("pay.internal:8080", "pay.internal", 8080, "10.1.2.3", True),
        ("Pay.Internal:8080", "pay.internal", 8080, "127.0.0.1", True),
        ("pay.internal:8080", "pay.internal", 8080, "fd00::1", True),
        ("pay.internal:8080", "pay.internal", 8080, "::ffff:10.1.2.3", True),
        ("pay.internal:8080", "pay.internal", 8081, "10.1.2.3", False),
        ("pay.internal:8080", "other.internal", 8080, "10.1.2.3", False),
        ("pay.internal:8080", "pay.internal", 8080, "169.254.169.254", False),
        ("pay.internal:8080", "pay.internal", 8080, "0.0.0.0", False),
        ("pay.internal:8080", "pay.internal", 8080, "224.0.0.1", False),
        ("pay.internal:8080", "pay.internal", 8080, "64:ff9b::a9fe:a9fe", False),
        ("127.0.0.1:8080", "127.0.0.1", 8080, "127.0.0.1", True),
        ("169.254.169.254:80", "169.254.169.254", 80, "169.254.169.254", True),
        ("[::1]:8080", "::1", 8080, "::1", True),
    ],
)
def test_an_operator_opens_one_host_and_port(entry: str, host: str, port: int, address: str, *, allowed: bool) -> None:
    """Its private addresses; link-local only when named by number."""
    assert EgressPolicy([entry]).allows(host, port, ip_address(address)) is allowed


@pytest.mark.parametrize("entry", ["", "pay.internal", ":80", "pay:0", "pay:65536", "pay:x", "::1:80", "pay:٨٠"])
def test_an_entry_that_is_no_host_and_port_is_refused(entry: str) -> None:
    """At start-up, not when a call comes."""
    with pytest.raises(ValueError, match="`"):
        EgressPolicy([entry])


def test_host_and_port_are_told_apart() -> None:
    """Brackets go, case goes, spaces go."""
    assert parse_host_port(" [FD00::1]:443 ") == ("fd00::1", 443)


def test_a_mapped_address_is_the_one_inside() -> None:
    """That is where the kernel would go."""
    assert unmapped(ip_address("::ffff:10.0.0.1")) == ip_address("10.0.0.1")
    assert unmapped(ip_address("fd00::1")) == ip_address("fd00::1")


@pytest.mark.parametrize("host", ["127.0.0.1", "10.1.2.3", "::1", "localhost", "a.localhost", "169.254.169.254"])
def test_what_is_refused_as_written_is_known_before_a_call(host: str) -> None:
    """With the option that opens it, which does open it."""
    entry = f"[{host}]:80" if ":" in host else f"{host}:80"

    assert EgressPolicy().refuses_literally(host, 80) == f"if it is meant, serve with --allow-private {entry}"
    assert EgressPolicy((entry,)).refuses_literally(host, 80) is None


def test_what_nothing_opens_is_not_advised() -> None:
    """Multicast has no option; a public address and a name need none."""
    assert EgressPolicy().refuses_literally("224.0.0.1", 80) == "no setting opens it"
    assert EgressPolicy().refuses_literally("8.8.8.8", 80) is None
    assert EgressPolicy().refuses_literally("pay.example", 80) is None
