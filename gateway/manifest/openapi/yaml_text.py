"""Plain values as YAML that means the same in 1.1 and 1.2: every text is quoted, so that `no` stays a text."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_OTHER_WORDS: Final = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_WIDTH: Final = 100


def yaml_text(value: Mapping[str, Any], indent: int = 0) -> str:
    """A block map, its short members in flow style."""
    return "".join(f"{line}\n" for line in _lines(value, indent))


def _lines(value: Mapping[str, Any], indent: int) -> Iterator[str]:
    space = " " * indent
    for name, member in value.items():
        flow = f"{space}{_key(name)}: {_flow(member)}"
        if not isinstance(member, Mapping | list) or not member or len(flow) <= _WIDTH:
            yield flow
        elif isinstance(member, Mapping):
            yield f"{space}{_key(name)}:"
            yield from _lines(member, indent + 2)
        else:
            yield f"{space}{_key(name)}:"
            yield from (f"{space}  - {_flow(item)}" for item in member)


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(name)}: {_flow(member)}" for name, member in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _quoted(value) if isinstance(value, str) else json.dumps(value)


def _key(name: str) -> str:
    plain = _PLAIN_KEY.fullmatch(name) and name.lower() not in _OTHER_WORDS
    return name if plain else _quoted(name)


def _quoted(text: str) -> str:
    written = json.dumps(text, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else _escaped(letter) for letter in written)


def _escaped(letter: str) -> str:
    code = ord(letter)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
