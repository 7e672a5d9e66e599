"""A model's raw argument string, read and compared with a tool's schema as far as that needs no schema library.

The gateway normalises and validates for good; what is caught here saves a round trip and gives the model the list of
names it may use. Order: readable, known names, required names, types.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from agent_client.strict_json import read_strictly

MAX_CHARACTERS: Final = 64 * 1024

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
    "null": (type(None),),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """Why arguments cannot be used: an error code of the contract, and a sentence for the model."""

    code: str
    text: str


def read_arguments(raw: str) -> dict[str, Any] | Misfit:
    """The object the string holds. Two names alike, NaN and anything that is no object are refused."""
    if len(raw) > MAX_CHARACTERS:
        return Misfit(code="body_too_large", text=f"the arguments are longer than {MAX_CHARACTERS} characters")
    try:
        value = read_strictly(raw or "{}")
    except RecursionError:
        return Misfit(code="invalid_json", text="the arguments are nested too deeply")
    except json.JSONDecodeError as error:
        return Misfit(code="invalid_json", text=f"the arguments are not JSON: {error.msg} at character {error.pos}")
    except ValueError as error:
        return Misfit(code="invalid_json", text=f"the arguments are not JSON: {error}")
    if not isinstance(value, dict):
        return Misfit(code="invalid_json", text="the arguments must be one JSON object")
    return value


def misfit(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> Misfit | None:
    """What a tool's published schema says against the arguments, or None."""
    known: Mapping[str, Any] = schema.get("properties") or {}
    extra = sorted(set(arguments) - set(known))
    # Every tool of the gateway refuses names it does not know.
    if extra and schema.get("additionalProperties", False) is False:
        text = f"unknown arguments: {', '.join(extra)}; the tool takes: {', '.join(sorted(known)) or 'none'}"
        return Misfit(code="unknown_arguments", text=text)
    missing = sorted(set(schema.get("required") or ()) - set(arguments))
    if missing:
        return Misfit(code="missing_arguments", text=f"missing arguments: {', '.join(missing)}")
    for name, value in arguments.items():
        expected = known.get(name, {}).get("type")
        if expected is not None and not _is(value, expected):
            wanted = expected if isinstance(expected, str) else " or ".join(expected)
            return Misfit(code="wrong_type", text=f"{name} must be of type {wanted}")
    return None


def sensitive_names(schema: Mapping[str, Any]) -> frozenset[str]:
    """Arguments the manifest marks `x-sensitive`."""
    known: Mapping[str, Any] = schema.get("properties") or {}
    return frozenset(name for name, each in known.items() if isinstance(each, Mapping) and each.get("x-sensitive"))


def _is(value: Any, expected: str | list[str]) -> bool:
    names = [expected] if isinstance(expected, str) else expected
    return any(_is_one(value, name) for name in names)


def _is_one(value: Any, name: str) -> bool:
    allowed = _TYPES.get(name)
    if allowed is None:
        return True
    if isinstance(value, bool):
        return bool in allowed
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, allowed)
