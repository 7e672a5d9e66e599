"""`backend.mcp` read as the request that it stands for: the body is the `params` of a `tools/call`.

From here on there is no second kind of request: the same templates, linter and record. How the `params` become a message
(its id, its session, its revision of the protocol) belongs to one sending and not to the operation, so the transport adds
it; what is pinned with a record is the section as it was written.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from pydantic import ValidationError

from gateway.manifest.backends import McpSection
from gateway.manifest.complaint import Complaint, Severity
from gateway.manifest.placeholders import literal
from gateway.manifest.yaml_events import Document, Path

_SECTION: Final[Path] = ("backend", "mcp")
_HTTP: Final[Path] = ("backend", "http")
_NO_HOST_LETTER: Final = re.compile(r"[^a-z0-9-]+")
# As `http` has them -> as `mcp` has them, so that a complaint about the one points at what was written.
_PLACES: Final[Mapping[Path, Path]] = {
    ("url",): ("url",),
    ("headers",): ("headers",),
    ("body",): ("arguments",),
    ("body", "name"): ("tool",),
    ("body", "arguments"): ("arguments",),
}


def has_section(value: Any) -> bool:
    """Whether a manifest's value declares this backend."""
    backend = value.get("backend") if isinstance(value, Mapping) else None
    return isinstance(backend, Mapping) and "mcp" in backend


def expanded(file: str, document: Document, value: Any) -> tuple[Document, Any, list[Complaint]]:
    """The manifest with `backend.http` beside `backend.mcp`, and what stands against that.

    A shape that is wrong is left to the reader of shapes: then nothing is expanded and nothing said.
    """
    given = value["backend"]["mcp"]
    if not {"http", "openapi"}.isdisjoint(value["backend"]):
        return document, value, [_complaint(file, document, "a tool has one backend; keep one of them")]
    try:
        section = McpSection.model_validate(given)
    except ValidationError:
        return document, value, []
    if (section.url is None) is (section.command is None):
        message = "write `url`, for a server on the network, or `command`, for one that is a process"
        return document, value, [_complaint(file, document, message)]
    declared = value.get("arguments")
    properties = declared.get("properties") if isinstance(declared, Mapping) else None
    names = list(properties) if isinstance(properties, Mapping) else []
    arguments = {name: f"{{args.{name}}}" for name in names} if section.arguments is None else section.arguments
    http: dict[str, Any] = {
        "method": "POST",
        "url": section.url or _nowhere(section),
        "headers": section.headers,
        "body": {"name": literal(section.tool), "arguments": arguments},
    }
    changed = {**value, "backend": {**value["backend"], "http": http}}
    moved = replace(document, values=_moved(document.values), keys=_moved(document.keys))
    return moved, changed, []


def _nowhere(section: McpSection) -> str:
    """A name for a process, where other backends have a host. It exists nowhere (RFC 2606): were it ever taken for an
    address, nothing would be reached.
    """
    name = _NO_HOST_LETTER.sub("-", str(section.command).rpartition("/")[2].lower()).strip("-")[:40] or "process"
    digest = hashlib.sha256("\0".join((str(section.command), *section.args)).encode()).hexdigest()[:8]
    return f"http://{name}-{digest}.stdio.invalid/"


def _moved(places: Mapping[Path, Any]) -> dict[Path, Any]:
    """The same places, and those of the section once more under the paths of `backend.http`."""
    moved: dict[Path, Any] = {}
    if _SECTION in places:
        moved[_HTTP] = places[_SECTION]
    for http, mcp in _PLACES.items():
        source, target = (*_SECTION, *mcp), (*_HTTP, *http)
        deeper = {(*target, *path[len(source) :]): it for path, it in places.items() if path[: len(source)] == source}
        moved |= deeper
    return {**places, **moved}


def _complaint(file: str, document: Document, message: str) -> Complaint:
    place = document.key_place(_SECTION)
    return Complaint(
        severity=Severity.ERROR, rule="mcp", message=message, file=file, line=place.line, column=place.column
    )
