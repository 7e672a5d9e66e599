"""The declared shape of a result: a 2xx that does not fit is `result_unreadable`."""

from collections.abc import Mapping
from typing import Any

from jsonschema_rs import ValidationErrorKind

from gateway.manifest.schemas import Validator, compile_schema


class ResultSchema:
    """A compiled JSON Schema of `data`."""

    __slots__ = ("_validator", "published")

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.published = schema
        self._validator: Validator = compile_schema(schema)

    def fault(self, data: Any) -> str | None:
        """Where `data` first departs from the schema, in words without any of its values. None: it fits."""
        if self._validator.is_valid(data):
            return None
        error = next(iter(self._validator.iter_errors(data)))
        kind = error.kind
        # What is missing has no place of its own; its name is the schema's.
        missing = [kind.property] if isinstance(kind, ValidationErrorKind.Required) else []
        parts = [*error.instance_path, *missing]
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
        return f"data{path} does not satisfy `{kind.name}`"
