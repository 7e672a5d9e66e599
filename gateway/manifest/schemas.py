"""JSON Schema 2020-12, compiled with the settings that make it safe and mean what it says."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import jsonschema_rs

Validator = jsonschema_rs.Draft202012Validator

_META: Final = Validator({"$ref": "https://json-schema.org/draft/2020-12/schema"})


class SchemaError(ValueError):
    """The schema does not compile.

    Attributes:
        path: keys and indexes from the schema's root to what is wrong.
    """

    def __init__(self, message: str, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.path = path


def _refuse_retrieval(uri: str) -> Any:
    raise ValueError(f"a manifest's schema refers to nothing outside itself, and {uri} is outside")


def compile_schema(schema: Mapping[str, Any]) -> Validator:
    """Compile one schema.

    The validator's own defaults backtrack in patterns, take every unknown format for valid and fetch remote and
    `file://` references; all three are switched off here.

    Raises:
        SchemaError: a keyword, a pattern, a format or a reference is not usable.
    """
    try:
        return Validator(
            dict(schema),
            validate_formats=True,
            ignore_unknown_formats=False,
            retriever=_refuse_retrieval,
            pattern_options=jsonschema_rs.RegexOptions(),
        )
    except jsonschema_rs.ValidationError as error:
        raise SchemaError(error.message, tuple(error.instance_path)) from error
    except (jsonschema_rs.ReferencingError, ValueError) as error:
        raise SchemaError(str(error)) from error


def shape_faults(schema: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every keyword whose value is of the wrong shape: its path and what is wrong with it."""
    for error in _META.iter_errors(schema):
        yield tuple(error.instance_path), error.message
