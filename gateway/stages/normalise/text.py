"""Text of a tool, made harmless to look at: what a person would not see is not passed on to a model either."""

import re
from typing import Any, Final

import orjson

_ESCAPE_SEQUENCES: Final = (
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC, DCS, SOS, PM, APC: titles, links, device strings
    r"|\x1b[ -/]*[0-~]?"
)
_INVISIBLE: Final = (
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # controls, except tab and line ends
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"  # zero width, bidi, line separators
    "\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"  # tags and variation selectors that can spell out a hidden text
)
# Joiners are spelling in Persian and Hindi and inside emoji, but only one at a time between two visible characters.
_OUTSIDE_ASCII: Final = "[^\x00-\x7f\u200b-\u200f]"
_STRAY_JOINERS: Final = rf"(?<!{_OUTSIDE_ASCII})[\u200c\u200d]|[\u200c\u200d](?!{_OUTSIDE_ASCII})"

_CONTAINERS: Final = frozenset({dict, list})

_UNSEEN: Final = re.compile(f"{_ESCAPE_SEQUENCES}|{_INVISIBLE}|{_STRAY_JOINERS}")


def clean_text(text: str) -> str:
    """`text` without terminal escape sequences, control, bidi and zero-width characters; itself if it has none."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSEEN.sub("", text)


def clean(data: Any) -> Any:
    """JSON data with all names and texts cleaned; the same object when there is nothing to clean.

    Of two names that are equal once cleaned the last one stays: a difference that nobody sees is none.
    """
    return data if _is_plain(data) or not _has_unseen(data) else _rebuilt(data)


def _is_plain(data: Any) -> bool:
    """Whether it is seen without a walk that all texts are ASCII without controls: nearly all are."""
    try:
        text = orjson.dumps(data)
    except orjson.JSONEncodeError:
        return False
    # What JSON escapes is not looked into here.
    return text.isascii() and text.find(b"\\") < 0 and text.find(b"\x7f") < 0


def _has_unseen(data: Any) -> bool:
    pending: list[Any] = [data]
    while pending:
        node = pending.pop()
        kind = type(node)
        if kind is dict:
            members: list[Any] = [*node, *node.values()]
        elif kind is list:
            members = node
        else:
            members = [node]
        texts = [member for member in members if type(member) is str]
        # All texts of a container at once: nearly always they are plain.
        whole = "".join(texts)
        if not (whole.isascii() and whole.isprintable()) and any(map(_UNSEEN.search, texts)):
            return True
        if not _CONTAINERS.isdisjoint(map(type, members)):
            pending.extend([member for member in members if type(member) in _CONTAINERS])
    return False


def _rebuilt(data: Any) -> Any:
    if isinstance(data, str):
        return clean_text(data)
    if isinstance(data, dict):
        return {clean_text(name): _rebuilt(member) for name, member in data.items()}
    if isinstance(data, list):
        return [_rebuilt(item) for item in data]
    return data
