"""What stands in a store for a hold: equal for equal holds of one store, and telling nobody the value."""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Final

import orjson

from gateway.contract.keyed_hash import keyed_hash
from gateway.stages.execute.operation.record import Hold

_REMEMBERED: Final = 1024


class HoldDigests:
    """Digests keyed with the secret of one store.

    The latest are remembered with the values they are of, for a write asks for the same one five times; both are
    forgotten with the store that this belongs to. The repr shows neither.
    """

    def __init__(self, secret: bytes) -> None:
        self.secret = secret
        # Keyed by the strings, whose hashes Python keeps.
        self._digest: Callable[[str, str, str], bytes] = lru_cache(_REMEMBERED)(partial(_digest, secret))

    def of(self, hold: Hold) -> bytes:
        """The digest of a hold."""
        return self._digest(hold.tenant, hold.name, hold.value)


def _digest(secret: bytes, tenant: str, name: str, value: str) -> bytes:
    return keyed_hash(secret, orjson.dumps((tenant, name, value)))
