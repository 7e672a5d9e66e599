"""Fingerprints of arguments, answers and progress, for the progress monitor and for provenance.

Never for identity or approval: those hashes are the gateway's. What two JSON readers take for the same value has the
same fingerprint: `1` and `1.0`, composed and decomposed accents, members in any order.
"""

import hashlib
import json
import unicodedata
from typing import Any, Final

_LENGTH: Final = 32


def fingerprint(value: Any) -> str:
    """128 bits of SHA-256 in hexadecimal over the settled form of a JSON value; any other value by its repr."""
    text = json.dumps(settled(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=repr)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH]


def settled(value: Any) -> Any:
    """The value with one spelling for equal things."""
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {unicodedata.normalize("NFC", str(name)): settled(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [settled(member) for member in value]
    return value
