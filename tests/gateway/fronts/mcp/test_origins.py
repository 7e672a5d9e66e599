import pytest

from gateway.fronts.mcp.messages import ProtocolError
from gateway.fronts.mcp.origins import Origins, is_loopback

LOCAL = Origins(origins=frozenset(), hosts=frozenset(), loopback=True)
PUBLIC = Origins(
    origins=frozenset({b"https://console.example.com"}), hosts=frozenset({b"gate.example.com"}), loopback=False
)
ANYWHERE = Origins(origins=frozenset(), hosts=frozenset(), loopback=False)


def status(origins: Origins, host: bytes, origin: bytes | None = None) -> int:
    head = {b"host": host} if origin is None else {b"host": host, b"origin": origin}
    try:
        origins.check(head)
    except ProtocolError as refused:
        return refused.status
    return 200


@pytest.mark.parametrize("host", [b"localhost:8080", b"LOCALHOST", b"127.0.0.1:8080", b"127.1.2.3", b"[::1]:80"])
def test_a_gateway_on_a_loopback_address_is_reached_by_its_names(host: bytes) -> None:
    """With any port: a forwarded one is another."""
    assert status(LOCAL, host) == 200


@pytest.mark.parametrize(
    "host", [b"evil.example:8080", b"localhost.evil.example", b"127.0.0.1.evil.example", b"10.0.0.1"]
)
def test_and_under_no_name_that_somebody_lets_point_there(host: bytes) -> None:
    """That is how a page of a stranger comes to a server of this machine."""
    assert status(LOCAL, host) == 421
    assert status(LOCAL, host, b"http://" + host) == 421


def test_names_that_the_operator_lists_are_left_to_the_head() -> None:
    """The list was applied when the head was read."""
    listed = Origins(origins=frozenset(), hosts=frozenset({b"gate.example.com"}), loopback=True)

    assert status(listed, b"gate.example.com") == 200


def test_who_sends_no_origin_is_no_page() -> None:
    """Everything but a browser."""
    assert [status(each, b"localhost") for each in (LOCAL, PUBLIC, ANYWHERE)] == [200, 200, 200]


@pytest.mark.parametrize("origin", [b"https://console.example.com", b"HTTPS://Console.Example.com"])
def test_listed_origins_may_send(origin: bytes) -> None:
    """Whatever their case."""
    assert status(PUBLIC, b"gate.example.com", origin) == 200


@pytest.mark.parametrize(
    "origin",
    [b"https://evil.example", b"https://console.example.com:8443", b"http://console.example.com", b"null", b"", b"x"],
)
def test_no_other_may(origin: bytes) -> None:
    """Another scheme or port is another origin."""
    assert status(PUBLIC, b"gate.example.com", origin) == 403


def test_pages_of_the_gateway_itself_may() -> None:
    """Under a name that is certainly its own."""
    assert status(LOCAL, b"localhost:8080", b"http://localhost:8080") == 200
    assert status(LOCAL, b"localhost:8080", b"http://localhost:9999") == 403
    assert status(PUBLIC, b"gate.example.com:443", b"https://gate.example.com:443") == 200


def test_a_name_that_anybody_may_have_chosen_proves_nothing() -> None:
    """Without a list of hosts an origin equal to the Host may be a stranger's."""
    assert status(ANYWHERE, b"evil.example", b"http://evil.example") == 403


@pytest.mark.parametrize(
    ("host", "local"), [("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("::", False)]
)
def test_loopback_addresses(host: str, local: bool) -> None:  # noqa: FBT001 - a column of the table
    """Those that only this machine reaches."""
    assert is_loopback(host) is local
