"""The rules about the request of one manifest: method, headers, body, statuses, and where the key goes."""

from collections.abc import Callable, Mapping
from typing import Final

from gateway.contract.keys import UUID_LENGTH
from gateway.manifest.backends import StyledSection
from gateway.manifest.model import ManifestSource
from gateway.manifest.notes import Notes
from gateway.manifest.placeholders import TemplateError
from gateway.manifest.policies import Effect, KeyFormat, KeyPlace
from gateway.manifest.templates import ValueTemplate
from gateway.manifest.yaml_events import Path

_HTTP: Final[Path] = ("backend", "http")
_WITHOUT_BODY: Final = frozenset({"GET", "HEAD"})
_ACTING: Final = frozenset({"PUT", "PATCH", "DELETE"})
# The connection, its framing and its host belong to the transport, and the trace to the call.
RESERVED: Final = frozenset(
    [
        "connection",
        "content-length",
        "expect",
        "host",
        "http2-settings",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "accept-encoding",
        "traceparent",
    ]
)
# These have a value already, unless the manifest's `headers` give them another.
_PRESET: Final = frozenset({"accept", "content-type"})
_REFUSALS: Final = range(400, 500)


def _headers_are_ours_to_set(source: ManifestSource, notes: Notes) -> None:
    http = source.backend.http
    seen: dict[str, str] = {}
    for name, text in http.headers.items():
        path = (*_HTTP, "headers", name)
        if name.lower() in RESERVED:
            notes.error(path, "header", f"{name} is set by the gateway; remove it", on_key=True)
        if name.lower() in seen:
            notes.error(path, "header", f"{name} and {seen[name.lower()]} are one header; keep one", on_key=True)
        seen[name.lower()] = name
        if not text.isascii() or not text.isprintable():
            notes.error(path, "header", "a header value has printable ASCII characters only")
    if http.deadline_header is not None:
        _is_free(http.deadline_header, seen, (*_HTTP, "deadline_header"), notes)
    key = source.downstream_key
    if key is not None and key.in_ is KeyPlace.HEADER:
        taken = seen | ({http.deadline_header.lower(): "deadline_header"} if http.deadline_header else {})
        _is_free(key.name, taken, ("downstream_key", "name"), notes)


def _is_free(name: str, seen: dict[str, str], path: Path, notes: Notes) -> None:
    if name.lower() in seen or name.lower() in RESERVED | _PRESET:
        notes.error(path, "header", f"the header {name} is set already; choose the one the downstream reads")


def _method_fits(source: ManifestSource, notes: Notes) -> None:
    http = source.backend.http
    if http.method in _WITHOUT_BODY and http.body is not None:
        notes.error(
            (*_HTTP, "body"), "shape", f"{http.method} has no body; use `query`, or another method", on_key=True
        )
    if http.method in _WITHOUT_BODY and http.form is not None:
        notes.error((*_HTTP, "form"), "shape", f"{http.method} has no body; use `query`", on_key=True)
    if http.body is not None and http.form is not None:
        notes.error((*_HTTP, "form"), "shape", "a request has one body; keep `body` or `form`", on_key=True)
    if http.method in _WITHOUT_BODY and source.effect is Effect.WRITE:
        message = f"{http.method} promises to change nothing, and what lies between may repeat it; is this a write?"
        notes.warning((*_HTTP, "method"), "shape", message)


def _a_read_changes_nothing(source: ManifestSource, notes: Notes) -> None:
    http, path = source.backend.http, (*_HTTP, "method")
    reads_by_post = source.effect is Effect.READ and http.method == "POST"
    if http.post_reads and not reads_by_post:
        message = "`post_reads` is about reads by POST and would do nothing here; remove it"
        notes.error((*_HTTP, "post_reads"), "no-effect", message, on_key=True)
    if source.effect is not Effect.READ or source.backend.mcp is not None:
        return  # whatever a tool of an MCP server does, it is called by POST
    if http.method in _ACTING:
        message = (
            f"a read is sent again whenever no answer comes, and {http.method} promises to change something: write"
            " `effect: idempotent` or `effect: write`"
        )
        notes.warning(path, "read-method", message)
    elif reads_by_post and not http.post_reads:
        message = (
            "a read is sent again whenever no answer comes, and a POST may act each time: if it does, write"
            " `effect: write`; if it changes nothing, such as a search, write `post_reads: true` beside the method"
        )
        notes.warning(path, "read-method", message)


def _key_can_be_placed(source: ManifestSource, notes: Notes) -> None:
    key, http = source.downstream_key, source.backend.http
    if key is None:
        return
    path: Path = ("downstream_key", "name")
    if key.in_ is KeyPlace.BODY:
        if http.method in _WITHOUT_BODY:
            notes.error(("downstream_key", "in"), "downstream-key", f"{http.method} has no body to put the key into")
        elif http.body is not None and not isinstance(http.body, dict):
            notes.error(("downstream_key", "in"), "downstream-key", "the body must be an object to put the key into")
        elif isinstance(http.body, dict) and key.name in http.body:
            notes.error(path, "downstream-key", f"the body has a member `{key.name}` already; remove it there")
        elif http.form is not None and key.name in http.form:
            notes.error(path, "downstream-key", f"the form has a member `{key.name}` already; remove it there")
    elif key.in_ is KeyPlace.QUERY and key.name in http.query:
        notes.error(path, "downstream-key", f"the query has a parameter `{key.name}` already; remove it there")
    elif key.in_ is KeyPlace.HEADER and not _is_header_name(key.name):
        notes.error(path, "header", f"`{key.name}` is no header name")


def _key_can_be_written(source: ManifestSource, notes: Notes) -> None:
    key = source.downstream_key
    if key is None:
        return
    if key.format is KeyFormat.QUOTED and key.in_ is not KeyPlace.HEADER:
        notes.error(("downstream_key", "format"), "downstream-key", "only a header is quoted; write `format: raw`")
    if key.format is KeyFormat.UUID and key.max_length < UUID_LENGTH:
        notes.error(("downstream_key", "max_length"), "downstream-key", f"a UUID has {UUID_LENGTH} characters")
    for name in ("in_progress_status", "mismatch_status"):
        if getattr(key, name) not in _REFUSALS:
            message = "this is no refusal: a downstream that keeps keys answers with 400 to 499, such as 409 and 422"
            notes.error(("downstream_key", name), "downstream-key", message)
    if key.in_progress_status == key.mismatch_status:
        message = "one status cannot mean both `in progress` and `other body`"
        notes.error(("downstream_key",), "downstream-key", message, on_key=True)


def _is_header_name(name: str) -> bool:
    return bool(name) and name.isascii() and all(letter.isalnum() or letter in "!#$%&'*+.^_`|~-" for letter in name)


def _body_is_material(source: ManifestSource, notes: Notes) -> None:
    """A downstream compares bodies under a key; what our fingerprint leaves out must not be in them."""
    http = source.backend.http
    section, body = ("body", http.body) if http.form is None else ("form", _values(http.form))
    if source.downstream_key is None or body is None:
        return
    try:
        used = {reference.path[0] for reference in ValueTemplate(body).references if reference.path}
    except TemplateError:
        return
    for name, part in source.arguments.get("properties", {}).items():
        if name in used and isinstance(part, dict) and (part.get("x-immaterial") or part.get("x-sensitive")):
            message = (
                f"`{name}` does not tell operations apart here, but it does downstream: the same key with other words in"
                " the body is answered with a mismatch; leave it out of the body, or make it material"
            )
            notes.warning((*_HTTP, section), "downstream-key", message)


def _values(form: Mapping[str, str | StyledSection]) -> list[str]:
    return [given if isinstance(given, str) else given.value for given in form.values()]


def _statuses_agree(source: ManifestSource, notes: Notes) -> None:
    http = source.backend.http
    for index, status in enumerate(http.already_done):
        if str(status) in http.statuses:
            message = f"{status} is in `statuses` too; keep one of the two"
            notes.error((*_HTTP, "already_done", index), "shape", message)
        if status not in _REFUSALS:
            message = f"{status} is no refusal; `already_done` is about those such as 404 and 410"
            notes.error((*_HTTP, "already_done", index), "no-effect", message)


HTTP_RULES: Final[tuple[Callable[[ManifestSource, Notes], None], ...]] = (
    _headers_are_ours_to_set,
    _method_fits,
    _a_read_changes_nothing,
    _key_can_be_placed,
    _key_can_be_written,
    _body_is_material,
    _statuses_agree,
)
