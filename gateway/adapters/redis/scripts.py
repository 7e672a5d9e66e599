"""The scripts: files in `lua/`, put together with their heads."""

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

_HEADS: Final = ("clock", "tenant", "approval", "standing")
_MOVES_APPROVALS: Final = frozenset({"commit", "approve"})
_TELLS_STANDING: Final = frozenset({"breakers", "tenants"})
SHARED: Final = frozenset(
    {
        "identify",
        "enroll",
        "tenants",
        "pin",
        "pins",
        "check",
        "breakers",
        "swap",
        "throttle",
        "take",
        "give",
        "reserve",
        "unreserve",
    }
)
"""Scripts that act on no tenant's memory, or that make it."""


@dataclass(frozen=True, slots=True)
class Script:
    """One script as the server gets it."""

    name: str
    text: str
    digest: str


def clock_text() -> str:
    """The head that says what time it is."""
    return _text("clock")


def script(name: str, clock: str) -> Script:
    """The script of that name, under the given clock."""
    heads: tuple[str, ...] = (clock,) if name in SHARED else (clock, _text("tenant"))
    if name in _MOVES_APPROVALS:
        heads = (*heads, _text("approval"))
    if name in _TELLS_STANDING:
        heads = (*heads, _text("standing"))
    text = "\n".join((*heads, _text(name)))
    return Script(name, text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


def names() -> tuple[str, ...]:
    """Every script."""
    found = (entry.name.removesuffix(".lua") for entry in _folder().iterdir() if entry.name.endswith(".lua"))
    return tuple(sorted(name for name in found if name not in _HEADS))


@cache
def _text(name: str) -> str:
    return (_folder() / f"{name}.lua").read_text(encoding="utf-8")


def _folder() -> resources.abc.Traversable:
    return resources.files("gateway.adapters.redis") / "lua"
