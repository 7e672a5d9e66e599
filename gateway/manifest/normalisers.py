"""What `x-normalise` does to a text before it is matched, compared or sent. Each one applied twice changes nothing."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Final

_SPACES: Final = re.compile(r"\s+")

NORMALISERS: Final[Mapping[str, Callable[[str], str]]] = {
    "trim": str.strip,
    "upper": str.upper,
    "lower": str.lower,
    "nfc": lambda text: unicodedata.normalize("NFC", text),
    "collapse_spaces": lambda text: _SPACES.sub(" ", text),
}


def normalise(text: str, names: tuple[str, ...]) -> str:
    """Apply the normalisers until nothing changes any more.

    Each one alone is idempotent and a sequence need not be: upper-casing `ŉ` gives two characters that `nfc` may
    join again. A second round settles every known case; the bound is there so that a call cannot hang.
    """
    for _ in range(4):
        changed = text
        for name in names:
            changed = NORMALISERS[name](changed)
        if changed == text:
            return text
        text = changed
    return text
