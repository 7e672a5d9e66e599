"""Tokens that were proved a moment ago: a signature costs as much as a call, and the same token comes with every call.

What is kept is a hash of the token, never the token, and only of genuine ones, so that nobody fills this with inventions.
"""

import hashlib
from dataclasses import dataclass
from typing import Final

from gateway.adapters.oidc.key_set import VerificationKey
from gateway.adapters.oidc.key_source import KeySource
from gateway.contract.call import Caller

MOST_PROOFS: Final = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A token that was verified, and what that rested on. It holds from `begins` to `ends`, seconds since 1970.

    `source` goes with its issuer's entry in the file, `key` with what the issuer published last: a change of either
    takes the proof with it.
    """

    caller: Caller
    source: KeySource
    kid: str
    key: VerificationKey
    begins: float
    ends: float

    def holds(self, now: float) -> bool:
        """Whether a new check would come to the same."""
        return (
            self.begins <= now < self.ends and self.source.find(self.kid) is self.key and not self.source.is_neglected()
        )


class Proofs:
    """The latest of them."""

    def __init__(self) -> None:
        self._proofs: dict[bytes, Proof] = {}

    def __len__(self) -> int:
        return len(self._proofs)

    def find(self, token: str, now: float) -> Proof | None:
        """What is known of a token, if it still holds."""
        digest = _digest(token)
        proof = self._proofs.get(digest)
        if proof is None or proof.holds(now):
            return proof
        del self._proofs[digest]
        return None

    def keep(self, token: str, proof: Proof) -> None:
        """Remember; the oldest makes room."""
        if len(self._proofs) >= MOST_PROOFS:
            del self._proofs[next(iter(self._proofs))]
        self._proofs[_digest(token)] = proof

    def forget(self) -> None:
        """All of them."""
        self._proofs.clear()


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
