"""The JSON Schema of the manifest format, for editors (`oncegate schema`)."""

from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema

from gateway.manifest.model import ManifestSource

SCHEMA_ID: Final = "https://oncegate.dev/schema/manifest-1.json"


def format_schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of one manifest. What it accepts may still break a rule across fields."""
    schema = ManifestSource.model_json_schema(by_alias=True)
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        "$id": SCHEMA_ID,
        **schema,
        "title": "OnceGate tool manifest",
    }
