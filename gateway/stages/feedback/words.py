"""How values, names and times are written inside an observation: short, unambiguous, and never a sensitive value."""

import difflib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from gateway.stages.normalise.text import clean_text

ELLIPSIS: Final = "…"
MAX_TEXT: Final = 60
"""Characters of one value. An identifier fits; a letter does not."""
MAX_NAMES: Final = 12

_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_.\-]{1,64}", re.ASCII)


def listed(names: Sequence[str], *, joined_by: str = "and") -> str:
    """`a, b and c`; of more than twelve the first twelve and how many are left out."""
    if len(names) > MAX_NAMES:
        return f"{', '.join(names[:MAX_NAMES])} and {len(names) - MAX_NAMES} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {joined_by} {names[-1]}"


def given_name(name: str) -> str:
    """A name that the caller made up. One that is no plain identifier is described, not repeated."""
    return name if _PLAIN_NAME.fullmatch(name) else "a name that is no plain identifier"


def nearest(name: str, names: tuple[str, ...]) -> str | None:
    """The name that was probably meant."""
    return _nearest(_spelling(name[:64]), names)


# Models make the same mistakes over and over, and the comparison is most of what a refusal costs.
@lru_cache(maxsize=1024)
def _nearest(spelling: str, names: tuple[str, ...]) -> str | None:
    by_spelling = {_spelling(known): known for known in names}
    found = difflib.get_close_matches(spelling, by_spelling, n=1, cutoff=0.7)
    return by_spelling[found[0]] if found else None


def _spelling(name: str) -> str:
    return name.lower().replace("-", "_").replace(".", "_")


def seconds(value: float) -> str:
    """`5.0 s`, `42.5 s`; whole from 100 s on."""
    return f"{value:.0f} s" if value >= 100 else f"{value:.1f} s"


def written(value: Any) -> str:
    """A value as JSON, cut to sixty characters."""
    if isinstance(value, str):
        text = clean_text(value)
        return json.dumps(text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + ELLIPSIS, ensure_ascii=False)
    text = clean_text(json.dumps(value, ensure_ascii=False))
    if len(text) <= MAX_TEXT:
        return text
    return f"[{ELLIPSIS}]" if isinstance(value, list | tuple) else f"{{{ELLIPSIS}}}"


def call(tool: str, arguments: Mapping[str, Any], *, hidden: Sequence[Any] = (), complete: bool = True) -> str:
    """`tool(name="value", …)`. A value that is, or holds, a hidden one is left out; so is what `complete` denies."""
    shown = [f"{name}={unless_hidden(value, hidden)}" for name, value in arguments.items()]
    if not complete:
        shown.append(ELLIPSIS)
    return f"{tool}({', '.join(shown)})"


def hidden_values(arguments: Mapping[str, Any], sensitive: Iterable[str]) -> tuple[Any, ...]:
    """The values that no sentence may hold: those of the sensitive arguments, down to their leaves."""
    return tuple(leaf for name in sensitive if name in arguments for leaf in _leaves(arguments[name]))


def _leaves(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        for member in value.values():
            yield from _leaves(member)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    # A true or a null is no secret, and hiding it would hide every other one.
    elif value not in ("", None) and not isinstance(value, bool):
        yield value


def unless_hidden(value: Any, hidden: Sequence[Any]) -> str:
    """A value as JSON; an ellipsis if it is, or holds, one of the hidden ones."""
    return ELLIPSIS if holds_hidden(value, hidden) else written(value)


def holds_hidden(value: Any, hidden: Sequence[Any]) -> bool:
    """Whether one of the hidden values can be read in `value`."""
    texts = (str(value), written(value))
    return any(str(secret) in text for secret in hidden for text in texts)
