"""One operation as the text of a draft manifest.

What a document cannot know is left open: what identifies an action, what it acts on, and how an unknown outcome is settled.
A write without them does not load, and the draft says what there is to decide.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.manifest.openapi import security
from gateway.manifest.openapi.keywords import clean
from gateway.manifest.openapi.references import Documents
from gateway.manifest.openapi.shapes import SCALARS, types_of
from gateway.manifest.openapi.understanding import Understood
from gateway.manifest.openapi.yaml_text import yaml_text

READS: Final = frozenset({"GET", "HEAD"})
_UNREVIEWED: Final = "From the service's document, not reviewed:"
_NOTES: Final = 20
_CANDIDATES: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What an import says of every draft.

    Attributes:
        document: its name below the manifest directory, `openapi/shop.json`.
        prefix: of the operator's names: `SHOP` makes `${SHOP_URL}` and `${secret:SHOP_…}`.
        owner: the team that will answer for the tools.
    """

    document: str
    prefix: str
    owner: str

    @property
    def variable(self) -> str:
        return f"{self.prefix}_URL"


def draft(tool: str, understood: Understood, documents: Documents, terms: Terms, reads: Sequence[str]) -> str:
    """The manifest's text. `reads` are the tools that may serve as a look-up.

    Raises:
        OpenApiError: the credential that the operation wants cannot be sent.
    """
    operation = understood.operation
    effect = "read" if operation.method in READS else "write"
    backend: dict[str, Any] = {
        "document": terms.document,
        "operation": operation.name,
        "digest": understood.digest,
        "server": f"${{{terms.variable}}}",
    }
    if credentials := security.headers(operation, documents, terms.prefix):
        backend["headers"] = credentials
    manifest: dict[str, Any] = {
        "manifest": 1,
        "name": tool,
        "version": "0.1.0",
        "description": f"{_UNREVIEWED} {operation.summary or f'{operation.method} {clean(operation.path, 200)}'}",
        "owner": terms.owner,
        "effect": effect,
        "arguments": understood.arguments,
        "permission": f"{terms.prefix.lower()}:{effect}",
        "backend": {"openapi": backend},
    }
    comments = list(_comments(understood, effect, documents, reads))
    return "".join(f"# {line}\n" for line in comments) + yaml_text(manifest)


def _comments(understood: Understood, effect: str, documents: Documents, reads: Sequence[str]) -> Iterator[str]:
    operation = understood.operation
    yield f"Draft of {operation.method} {clean(operation.path, 200)} ({documents.where(operation.at)})."
    yield "Names and descriptions are the document's words: read them before a model does."
    if servers := _servers(documents):
        yield f"The document names these servers; the operator's value decides: {', '.join(servers)}"
    if understood.notes:
        yield "Not taken over from the document:"
        yield from (f"- {documents.told(note)}" for note in understood.notes[:_NOTES])
        if len(understood.notes) > _NOTES:
            yield f"- and {len(understood.notes) - _NOTES} more"
    if effect == "write":
        yield from _questions(understood, reads)


def _questions(understood: Understood, reads: Sequence[str]) -> Iterator[str]:
    definitions = understood.arguments.get("$defs", {})
    properties = understood.arguments["properties"]
    comparable = [name for name in understood.required if (types_of(properties[name], definitions) or {""}) <= SCALARS]
    named = ", ".join(comparable[:_CANDIDATES]) or "none; perhaps `fields: all` with a `window`, or `caller`"
    yield "To decide before it loads (docs/openapi.md, `oncegate check`):"
    yield f"- identity: which arguments make two calls the same action? Required single values: {named}."
    yield "  Texts among them want `x-normalise`, such as [trim], so that `A ` and `A` are one."
    yield "- holds: what does it act on, so that another write on the same thing waits while an outcome is open?"
    if understood.takes_key:
        yield f"- downstream_key: the document declares the header {understood.takes_key}. What is the service's window?"
    else:
        yield "- downstream_key: does the service honour an idempotency key? The document declares no such header."
    candidates = ", ".join(reads[:_CANDIDATES]) or "the document has no read near it"
    yield f"- reconcile.lookup: which read shows whether it was done? Near it: {candidates}."
    yield "- unknown: if neither, who settles an unknown outcome?"


def _servers(documents: Documents) -> list[str]:
    listed = documents.main.value.get("servers")
    found = [it.get("url") for it in listed if isinstance(it, dict)] if isinstance(listed, list) else []
    return [clean(url, 120) for url in found if isinstance(url, str)][:3]
