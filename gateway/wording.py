"""What is wrong with a value that an operator wrote, in words: neither a type of Python nor a pattern."""

from collections.abc import Mapping
from typing import Any, Final

_WHOLE: Final = "it has to be a whole number"
_NUMBER: Final = "it has to be a number"
_TRUE: Final = "it has to be true or false"
_TEXT: Final = "it has to be text"
_LIST: Final = "it has to be a list"
_NAMES: Final = "it has to be names with their values, written as `name: value`"
_WORDS: Final = {
    "int_parsing": _WHOLE,
    "int_type": _WHOLE,
    "int_from_float": _WHOLE,
    "float_parsing": _NUMBER,
    "float_type": _NUMBER,
    "finite_number": _NUMBER,
    "bool_parsing": _TRUE,
    "bool_type": _TRUE,
    "string_type": _TEXT,
    "path_type": _TEXT,
    "list_type": _LIST,
    "tuple_type": _LIST,
    "dict_type": _NAMES,
    "model_type": _NAMES,
    "greater_than": "it has to be more than {gt}",
    "greater_than_equal": "it has to be {ge} or more",
    "less_than": "it has to be less than {lt}",
    "less_than_equal": "it has to be {le} or less",
    "string_too_short": "it has to have {min_length} characters or more",
    "string_too_long": "it has to have {max_length} characters or fewer",
    "too_short": "it has to have {min_length} entries or more",
    "too_long": "it has to have {max_length} entries or fewer",
    "literal_error": "it has to be {expected}",
    "string_pattern_mismatch": "it is not written as it has to be",
    "missing": "it is required",
    "extra_forbidden": "there is no such name here",
    "value_error": "{error}",
}
"""Kind of error, as pydantic names it -> its words, with the facts that it gives."""


def words_for(error: Mapping[str, Any], example: str = "") -> str:
    """What is wrong, without a full stop. `error`: one of pydantic's `errors()`; `example`: something that is right."""
    kind, facts = error["type"], error.get("ctx", {})
    if kind in _WORDS:
        words = _WORDS[kind].format_map(facts)
        if kind == "literal_error":
            words = words.replace("'", "`")
    else:
        words = error["msg"]
    return f"{words}, as in {example}" if example and kind != "value_error" else words


def place_in_yaml(malformed: Exception) -> str:
    """What a YAML parser says, and where, without a full stop."""
    mark, problem = getattr(malformed, "problem_mark", None), getattr(malformed, "problem", None)
    if mark is None or not problem:
        return " ".join(str(malformed).replace(' in "<unicode string>",', ", at").split())
    return f"{problem}, at line {mark.line + 1}, column {mark.column + 1}"
