"""What ONCEGATE_STORE may say."""

import pytest

from gateway.adapters.redis.address import Address, Kind, parse_address


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("redis://localhost", Address(kind=Kind.ONE, nodes=(("localhost", 6379),))),
        ("redis://10.0.0.1:7000/2", Address(kind=Kind.ONE, nodes=(("10.0.0.1", 7000),), database=2)),
        ("rediss://me@[::1]:1", Address(kind=Kind.ONE, nodes=(("::1", 1),), tls=True, username="me")),
        (
            "redis+sentinel://a,b:2/records/1",
            Address(kind=Kind.SENTINEL, nodes=(("a", 26379), ("b", 2)), master="records", database=1),
        ),
        ("redis+cluster://a:1,b:2", Address(kind=Kind.CLUSTER, nodes=(("a", 1), ("b", 2)))),
        ("rediss+cluster://u%40x@a/", Address(kind=Kind.CLUSTER, nodes=(("a", 6379),), tls=True, username="u@x")),
    ],
)
def test_an_address_is_read(url: str, address: Address) -> None:
    """One server, a master by its sentinels, or a cluster; with or without TLS, user, port and database."""
    assert parse_address(url) == address


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost",
        "redis+moon://a",
        "redis://",
        "redis://:secret-word@localhost",
        "redis://me:secret-word@localhost",
        "redis://a,b",
        "redis://a/b",
        "redis://a/0/1",
        "redis://a?db=1",
        "redis://a:port",
        "redis+sentinel://a",
        "redis+cluster://a/1",
    ],
)
def test_anything_else_is_none(url: str) -> None:
    """The complaint does not repeat it: it may hold a password."""
    with pytest.raises(ValueError, match=r"store|host|password|sentinel|database") as refused:
        parse_address(url)

    assert "secret-word" not in str(refused.value)
