"""The JSON Schema of the manifest format, for editors (`oncegate schema`)."""

from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from gateway.manifest.model import ManifestSource

SCHEMA_ID: Final = "https://oncegate.dev/schema/manifest-1.json"


class _ClosedKeys(GenerateJsonSchema):
    """A key that does not match is a mistake to the loader, so it is one to an editor."""

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        found = super().dict_schema(schema)
        return {**found, "additionalProperties": False} if "patternProperties" in found else found


def format_schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of one manifest. What it accepts may still break a rule across fields."""
    schema = ManifestSource.model_json_schema(by_alias=True, schema_generator=_ClosedKeys)
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        "$id": SCHEMA_ID,
        **schema,
        "title": "OnceGate tool manifest",
    }
