"""`oncegate schema`."""

import json

from gateway.fronts.http.openapi import document
from gateway.manifest.format_schema import format_schema
from tests.gateway.cli.run import run


def test_the_manifest_format_is_printed() -> None:
    """By default the schema for editors."""
    assert json.loads(run("schema").stdout) == format_schema()


def test_the_http_interface_is_printed() -> None:
    """`openapi` is the document that the gateway serves."""
    assert json.loads(run("schema", "openapi").stdout) == document()
