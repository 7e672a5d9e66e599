"""What the library says of an expression that does not compile, in words for whoever wrote it."""

import re
from typing import Final

from gateway.manifest.ports import CompileError

_ERROR: Final = re.compile(r"^(?:.*?)ERROR: <input>:(\d+):(\d+): (.*)$", re.MULTILINE)
_TEXT: Final = re.compile(r"'[^']*'|\"[^\"]*\"")
_ONE_EQUALS_SIGN: Final = re.compile(r"(?<![=!<>])=(?!=)")
_WORD: Final = re.compile(r"(?<![.\w])(and|or|not)\b", re.IGNORECASE)
_SIGNS: Final = {"and": "&&", "or": "||", "not": "!"}
_OVERLOAD: Final = re.compile(r"found no matching overload for '([^']+)' applied to '(.*)'")
_NULLABLE: Final = re.compile(r"wrapper\((\w+)\)")
_SYNTAX: Final = "Syntax error: "


def told(text: str, source: str) -> tuple[CompileError, ...]:
    """The mistakes that the library found in `source`, each with its place in it. `text` is all that it said."""
    found = tuple(
        CompileError(
            message=_told(match[3].replace(" (in container '')", "")), line=int(match[1]), column=int(match[2])
        )
        for match in _ERROR.finditer(text)
    )
    if not found:
        return (CompileError(message=text.partition("\n")[0]),)
    if found[0].message.startswith(_SYNTAX) and (habit := _habit(source)) is not None:
        # What follows is the library's, stumbling over the same sign again.
        return (CompileError(message=_SYNTAX + habit, line=found[0].line, column=found[0].column),)
    return found


def _told(message: str) -> str:
    if message.startswith(_SYNTAX):
        shown = message.partition(" expecting ")[0]
        return shown.replace("mismatched input '<EOF>'", "it ends too early").replace("'<EOF>'", "the end")
    if (match := _OVERLOAD.search(message)) is None:
        return message
    sign = match[1].replace("_", "").lstrip("@") if "_" in match[1] or match[1].startswith("@") else match[1]
    types = _NULLABLE.sub(r"\1 or null", match[2])
    return f"no matching overload: `{sign}` of {types}; compare values of one type, and an optional one with null first"


def _habit(source: str) -> str | None:
    """What another language writes otherwise, if there is such a thing in the source."""
    rest = _TEXT.sub("''", source)
    if _ONE_EQUALS_SIGN.search(rest) is not None:
        return "`=` is written `==` here"
    if (word := _WORD.search(rest)) is not None:
        return f"`{word[0]}` is written `{_SIGNS[word[0].lower()]}` here"
    return None
