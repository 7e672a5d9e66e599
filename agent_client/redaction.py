"""What history may keep: values that the manifest or the task calls private are replaced before anything is stored."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

REDACTED: Final = "[redacted]"

_SHORTEST: Final = 4
"""A value of fewer characters is not looked for in other text: it would be found everywhere."""


def without(value: Any, names: frozenset[str]) -> Any:
    """The value with every member of these names replaced, however deep it stands."""
    if not names:
        return value
    if isinstance(value, Mapping):
        return {name: REDACTED if name in names else without(member, names) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [without(member, names) for member in value]
    return value


def private_values(value: Any, names: frozenset[str]) -> frozenset[str]:
    """The texts that `without` would take out."""
    return frozenset(_private(value, names))


def scrubbed(value: Any, secrets: Iterable[str]) -> Any:
    """The value with these texts replaced wherever they occur in a string or a name, longest first."""
    ordered = sorted((s for s in secrets if len(s) >= _SHORTEST), key=len, reverse=True)
    return _scrub(value, ordered) if ordered else value


def _private(value: Any, names: frozenset[str]) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, member in value.items():
            if name in names:
                yield from _texts(member)
            else:
                yield from _private(member, names)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from _private(member, names)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for member in value.values():
            yield from _texts(member)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from _texts(member)
    elif isinstance(value, str):
        yield value
        # As it stands inside a string of JSON.
        yield value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _scrub(value: Any, secrets: list[str]) -> Any:
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, REDACTED)
        return value
    if isinstance(value, Mapping):
        return {_scrub(name, secrets): _scrub(member, secrets) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_scrub(member, secrets) for member in value]
    return value
