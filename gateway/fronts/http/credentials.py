"""Two kinds of bearer token side by side, told apart by how they begin."""

from collections.abc import Awaitable
from typing import Final

from gateway.contract.call import Caller, Unproved
from gateway.fronts.http.ports import Authenticator

API_KEY: Final = "og_"
"""How every API key begins. A JWT begins with an encoded brace, which is another letter."""


class Credentials:
    """`Authenticator` for API keys and for tokens of issuers."""

    def __init__(self, keys: Authenticator, tokens: Authenticator) -> None:
        self._keys = keys
        self._tokens = tokens

    def authenticate(self, token: str) -> Caller | Unproved | Awaitable[Caller | Unproved] | None:
        """By whom the token was made."""
        return (self._keys if token.startswith(API_KEY) else self._tokens).authenticate(token)
