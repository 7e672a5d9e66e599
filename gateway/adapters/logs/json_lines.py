"""Logs as JSON, one line a record, in which only what is allowed can appear.

A value reaches a line through a field of the allow-list, as a number in a sentence, or as a word in a sentence of our
own. Words in other sentences are left out, because libraries put URLs, headers and exception texts there; of an
exception the class and the places in the code are kept, never its text.
"""

import json
import logging
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any, Final

from gateway.stages.monitor.fields import OUR_LOGGERS, RECORD_ATTRIBUTE, LogField

MAX_TEXT: Final = 256
"""Characters kept of a field."""
MAX_SENTENCE: Final = 2000
"""Characters kept of a sentence."""
MAX_FRAMES: Final = 20

_OPERATOR_LINES: Final = frozenset(
    {
        "Uvicorn running on %s://%s:%d (Press CTRL+C to quit)",
        "Uvicorn running on unix socket %s (Press CTRL+C to quit)",
        "Uvicorn running on socket %s (Press CTRL+C to quit)",
    }
)
"""Sentences whose words all come from the operator's own settings."""

_PATH_PARTS: Final = 3


class JsonFormatter(logging.Formatter):
    """One JSON object: `time`, `level`, `logger`, `message`, the allowed fields, `exception` and `stack`."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": _time(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _sentence(record),
        }
        if _is_ours(record):
            line |= _fields(vars(record))
        line |= _fields(getattr(record, RECORD_ATTRIBUTE, None))
        if record.exc_info and record.exc_info[0] is not None:
            line[LogField.EXCEPTION] = record.exc_info[0].__name__
            frames = traceback.extract_tb(record.exc_info[2])[-MAX_FRAMES:]
            line["stack"] = [f"{_short(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames]
        return json.dumps(line)


def _time(created: float) -> str:
    return datetime.fromtimestamp(created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _is_ours(record: logging.LogRecord) -> bool:
    return record.name == OUR_LOGGERS or record.name.startswith(OUR_LOGGERS + ".")


def _fields(given: object) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        return {}
    return {
        field.value: given[field][:MAX_TEXT] if isinstance(given[field], str) else given[field]
        for field in LogField
        if isinstance(given.get(field), str | int | float)
    }


def _sentence(record: logging.LogRecord) -> str:
    """The constant part of the message. Of several lines the first: asyncio writes an exception's text below it."""
    template = str(record.msg).partition("\n")[0]
    if record.args:
        template = _filled(template, record.args, words=_is_ours(record) or record.msg in _OPERATOR_LINES)
    return template[:MAX_SENTENCE]


def _filled(template: str, args: tuple[object, ...] | Mapping[str, object], *, words: bool) -> str:
    if not isinstance(args, tuple):
        return template
    # Also of our own only text and numbers: an exception or a request would be shown by its repr.
    shown = tuple(
        arg if isinstance(arg, int | float) or (words and isinstance(arg, str)) else _Hidden() for arg in args
    )
    try:
        return template % shown
    except (TypeError, ValueError):
        return template


class _Hidden:
    """What stands where a word was left out."""

    def __str__(self) -> str:
        return "…"

    __repr__ = __str__


def _short(filename: str) -> str:
    return "/".join(PurePath(filename).parts[-_PATH_PARTS:])
