"""How many tokens a text may cost, before a provider has counted them."""

from typing import Final

_BYTES_PER_TOKEN: Final = 3
_PER_PART: Final = 8


def estimate(*parts: str) -> int:
    """A bound that holds for ordinary text: one token for three bytes, and a little for each part."""
    return sum(_size(part) // _BYTES_PER_TOKEN + _PER_PART for part in parts)


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
