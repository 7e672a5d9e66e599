"""Two kinds of tokens, each taken to whoever made it."""

from gateway.contract.call import Caller
from gateway.fronts.http.credentials import Credentials

KEY = Caller(subject="key", tenant="acme")
TOKEN = Caller(subject="token", tenant="acme")


class One:
    """Knows everybody as one caller."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller

    def authenticate(self, token: str) -> Caller:
        del token
        return self.caller


def test_a_key_is_told_by_its_beginning() -> None:
    """Whatever else comes is a token."""
    both = Credentials(One(KEY), One(TOKEN))

    assert [both.authenticate(token) for token in ("og_a_b", "eyJ.e30.x", "x")] == [KEY, TOKEN, TOKEN]
