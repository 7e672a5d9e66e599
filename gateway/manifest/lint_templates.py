"""The rules about the texts of one manifest that have holes: what was meant for a hole is one, and what identifies is sent."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from gateway.manifest.model import ManifestSource
from gateway.manifest.notes import Notes
from gateway.manifest.placeholders import TemplateError, is_reference
from gateway.manifest.policies import Effect
from gateway.manifest.templates import ValueTemplate
from gateway.manifest.yaml_events import Path

_HTTP: Final[Path] = ("backend", "http")
_DOUBLED: Final = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")
_PARTS: Final = {"url", "query", "headers", "form", "body"}


def _a_hole_has_single_braces(source: ManifestSource, notes: Notes) -> None:
    for path, text in _texts(source):
        for doubled in _DOUBLED.finditer(text):
            if is_reference(doubled[1]):
                message = f"`{doubled[0]}` is the text itself, in single braces; for the value write `{{{doubled[1]}}}`"
                notes.warning(path, "template", message)


def _what_identifies_is_sent(source: ManifestSource, notes: Notes) -> None:
    identity = source.identity
    if source.effect is Effect.READ or identity is None or not isinstance(identity.fields, tuple):
        return
    try:
        holes = ValueTemplate(_request(source)).references
    except TemplateError:
        return  # it has its complaint, and what else is in it is not known
    sent = {it.path[0] for it in holes if it.root == "args"}
    for index, name in enumerate(identity.fields):
        if name in source.arguments.get("properties", {}) and name not in sent:
            message = (
                f"`{name}` tells operations apart, and the request has nothing of it: calls that differ in it alone do the"
                " same thing once each; send it, or leave it out here"
            )
            notes.warning(("identity", "fields", index), "identity", message)


def _request(source: ManifestSource) -> dict[str, Any]:
    """All of the request that may have holes, as it is written."""
    return source.backend.http.model_dump(include=_PARTS, exclude_none=True)


def _texts(source: ManifestSource) -> Iterator[tuple[Path, str]]:
    yield from _below(_HTTP, _request(source))
    if source.reconcile is not None and source.reconcile.lookup is not None:
        yield from _below(("reconcile", "lookup", "arguments"), source.reconcile.lookup.arguments)
    for index, rule in enumerate(source.rules):
        yield ("rules", index, "message"), rule.message
        if rule.lookup is not None:
            yield from _below(("rules", index, "lookup", "arguments"), rule.lookup.arguments)
    if source.approval is not None and source.approval.reason is not None:
        yield ("approval", "reason"), source.approval.reason


def _below(path: Path, value: Any) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for name, member in value.items():
            yield from _below((*path, name), member)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _below((*path, index), item)


TEMPLATE_RULES: Final[tuple[Callable[[ManifestSource, Notes], None], ...]] = (
    _a_hole_has_single_braces,
    _what_identifies_is_sent,
)
