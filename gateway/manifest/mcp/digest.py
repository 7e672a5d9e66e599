"""The digest of a tool as an MCP server shows it."""

import hashlib
from typing import Any

from gateway.contract.canonical import NotCanonical, canonical


def tool_digest(shown: Any) -> str | None:
    """`sha256:` and the hash of the whole tool object: name, words, schemas, hints and whatever else is in it.

    A server that changes a description changes what a model is told to do, so nothing is left out. None: the object has
    no canonical form, and then it is not the one that was reviewed.
    """
    try:
        return f"sha256:{hashlib.sha256(canonical(shown)).hexdigest()}"
    except NotCanonical:
        return None
