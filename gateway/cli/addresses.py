"""Addresses that an operator gives, before they are asked or shown."""

from gateway.cli.exits import Exit, Failure


def refuse_credentials(name: str, url: str) -> None:
    """Refuse a URL with a user or a password in it. What refuses, fails or answers names the URL, to whoever asked: a model, too.

    Args:
        name: what the operator knows it by; the sentence does not repeat the URL.

    Raises:
        Failure: it has one.
    """
    authority = url.partition("//")[2].partition("/")[0].partition("?")[0].partition("#")[0]
    if "@" in authority:
        raise Failure(f"{name} holds a user or a password before the host; an address has none.", Exit.USAGE)


def refuse_query(name: str, url: str) -> None:
    """Refuse the URL of a gateway with a query or a fragment, where others take a token: it has no meaning here, and would be shown.

    Args:
        name: as of `refuse_credentials`.

    Raises:
        Failure: it has one.
    """
    if "?" in url or "#" in url:
        raise Failure(f"{name} holds a query or a fragment; the address of a gateway has none.", Exit.USAGE)
