"""The `backend.http` section as a compiled request."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.manifest.backends import StyledSection
from gateway.manifest.complaint import did_you_mean
from gateway.manifest.declared import find
from gateway.manifest.model import ManifestSource
from gateway.manifest.notes import Notes
from gateway.manifest.placeholders import (
    Environment,
    Piece,
    Reference,
    Secret,
    TemplateError,
    fill,
    literal,
    parse,
    unquoted,
)
from gateway.manifest.policies import DownstreamKey, Effect
from gateway.manifest.templates import HeaderTemplate, RequestTemplate, ValueTemplate
from gateway.manifest.urls import QueryTemplate, Style, UrlTemplate
from gateway.manifest.yaml_events import Path

_HTTP: Final[Path] = ("backend", "http")
_ALL_ROOTS: Final = frozenset({"args", "key", "run", "caller"})
_JSON: Final = "application/json"
_FORM: Final = "application/x-www-form-urlencoded"


class RequestBuilder:
    """Compiles one request, and complains where it cannot."""

    def __init__(
        self,
        source: ManifestSource,
        arguments: Mapping[str, Any],
        environment: Mapping[str, str],
        secrets: Mapping[str, str] | None,
        notes: Notes,
    ) -> None:
        """Take the operator's values; `secrets` None accepts any secret and fills in nothing (for checking only)."""
        self._source = source
        self._http = source.backend.http
        self._arguments = arguments
        self._environment = environment
        self._secrets = secrets
        self._notes = notes
        # A read keeps no record, so there is no key to put anywhere.
        self._roots = _ALL_ROOTS - {"key"} if source.effect is Effect.READ else _ALL_ROOTS

    def build(self, key: DownstreamKey | None) -> RequestTemplate | None:
        """The request, or None after a complaint."""
        url = self._url()
        query = self._parameters("query", self._http.query)
        form = None if self._http.form is None else self._parameters("form", self._http.form)
        headers, secret_headers = self._headers()
        body = self._body()
        if url is None or self._notes.has_errors:
            return None
        return RequestTemplate(
            method=self._http.method,
            url=url,
            query=query,
            headers=(*headers, *self._content_headers(key)),
            body=body,
            form=form,
            downstream_key=key,
            secret_headers=secret_headers,
        )

    def _url(self) -> UrlTemplate | None:
        path = (*_HTTP, "url")
        pieces = self._pieces(path, self._http.url, lone=False, strip_slash=True)
        if not pieces:
            return None
        try:
            return UrlTemplate.build(pieces)
        except TemplateError as error:
            self._notes.error(path, "url", blamed(self._http.url, self._environment) or str(error))
            return None

    def _parameters(self, section: str, declared: Mapping[str, str | StyledSection]) -> QueryTemplate:
        parameters: list[tuple[str, tuple[Piece, ...]]] = []
        styles: dict[str, Style] = {}
        for name, given in declared.items():
            path: Path = (*_HTTP, section, name)
            text = given if isinstance(given, str) else given.value
            pieces = self._pieces(path, text)
            parameters.append((name, pieces))
            if isinstance(given, StyledSection):
                styles[name] = given.style
                if len(pieces) != 1 or not isinstance(pieces[0], Reference):
                    self._notes.error(path, "template", "a style is about one list or object: write one hole")
        return QueryTemplate(parameters=tuple(parameters), styles=styles)

    def _headers(self) -> tuple[tuple[HeaderTemplate, ...], tuple[tuple[str, str], ...]]:
        headers: list[HeaderTemplate] = []
        secret: list[tuple[str, str]] = []
        for name, text in self._http.headers.items():
            path = (*_HTTP, "headers", name)
            pieces = self._pieces(path, text, secrets=True)
            if "${secret:" not in text:
                headers.append(HeaderTemplate(name=name, pieces=pieces))
            elif any(isinstance(piece, Reference) for piece in pieces):
                message = "a header with a secret may have nothing of a call in it; use two headers"
                self._notes.error(path, "header", message)
            else:
                secret.append((name, "".join(map(str, pieces))))
        return tuple(headers), tuple(secret)

    def _content_headers(self, key: DownstreamKey | None) -> tuple[HeaderTemplate, ...]:
        given = {name.lower() for name in self._http.headers}
        has_body = self._http.body is not None or (key is not None and key.in_ == "body")
        kind = _JSON if self._http.form is None else _FORM
        wanted = (("accept", _JSON, True), ("content-type", kind, has_body or self._http.form is not None))
        return tuple(
            HeaderTemplate(name=name, pieces=(value,)) for name, value, want in wanted if want and name not in given
        )

    def _body(self) -> ValueTemplate | None:
        path = (*_HTTP, "body")
        if self._http.body is None:
            return None
        filled = self._filled(path, self._http.body)
        try:
            return ValueTemplate(filled)
        except TemplateError:
            return None

    def _filled(self, path: Path, value: Any) -> Any:
        """The body with the operator's values in its texts, each text checked."""
        check_quotes(self._notes, path, value)
        if isinstance(value, Mapping):
            return {name: self._filled((*path, name), member) for name, member in value.items()}
        if isinstance(value, list):
            return [self._filled((*path, index), item) for index, item in enumerate(value)]
        if not isinstance(value, str):
            return value
        return "".join(_written(piece) for piece in self._pieces(path, value))

    def _pieces(
        self, path: Path, text: str, *, lone: bool = True, secrets: bool = False, strip_slash: bool = False
    ) -> tuple[Piece, ...]:
        """Parsed, checked against the declared arguments, the operator's values in place; empty after a complaint."""
        try:
            pieces = parse(text)
        except TemplateError as error:
            self._notes.template(path, error)
            return ()
        if not secrets and any(isinstance(piece, Secret) for piece in pieces):
            self._notes.error(path, "credential", "a secret may stand in a header only; elsewhere it ends up in logs")
            return ()
        check_references(self._notes, path, pieces, self._arguments, self._roots, lone=lone)
        environment = self._environment
        if strip_slash and pieces and isinstance(pieces[0], Environment) and pieces[0].name in environment:
            environment = {**environment, pieces[0].name: environment[pieces[0].name].rstrip("/")}
        known = self._secrets
        if known is None:
            known = {piece.name: "" for piece in pieces if isinstance(piece, Secret)}
        try:
            return fill(pieces, environment, known)
        except TemplateError as error:
            self._notes.error(path, "template", str(error))
            return ()


def blamed(url: str, environment: Mapping[str, str]) -> str | None:
    """What is wrong with a URL that cannot be built, or None where it has no variables.

    A variable at fault is named and its value is not shown: it may be what nobody should read.
    """
    pieces = parse(url)
    variables = [piece.name for piece in pieces if isinstance(piece, Environment)]
    if not variables:
        return None
    begins = isinstance(pieces[0], Environment)
    fit = {**dict.fromkeys(variables, "x"), **({variables[0]: "http://x"} if begins else {})}
    # First with what fits in all their places: what is wrong then is the manifest's own text.
    for name in ("", *variables):
        try:
            UrlTemplate.build(fill(pieces, {**fit, name: environment.get(name, "").rstrip("/")}, {}))
        except TemplateError as error:
            return str(error) if not name else _misfit(name, environment[name], begins=begins and name == variables[0])
    return f"the values of {', '.join(variables)} make no URL of it"


def _misfit(name: str, value: str, *, begins: bool) -> str:
    if not value:
        return f"{name} is set, and is empty"
    if begins:
        return (
            f"the value of {name} is no address: write http:// or https:// and a host, then at most a port and a path"
        )
    return f"the value of {name} does not fit into a URL; percent-encode it"


def check_quotes(notes: Notes, path: Path, value: Any) -> None:
    """Complain about a hole without quotes. `{key: null}` is a map that may be meant; `{args.x: null}` is not."""
    name = unquoted(value)
    if name is not None and (name != "key" or notes.is_left_out((*path, name))):
        notes.error(path, "template", f'an unquoted brace is a YAML map; quote the text: "{{{name}}}"')


def check_references(
    notes: Notes,
    path: Path,
    pieces: tuple[Piece, ...],
    arguments: Mapping[str, Any],
    roots: frozenset[str],
    *,
    lone: bool = True,
) -> None:
    """Complain about holes without a declaration, and about optional or structured arguments inside a text."""
    alone = lone and len(pieces) == 1
    for piece in pieces:
        if not isinstance(piece, Reference):
            continue
        if piece.root not in roots:
            notes.error(path, "template", f"`{{{piece.name}}}` has no value here; use {', '.join(sorted(roots))}")
            continue
        if piece.root != "args":
            continue
        declared = find(arguments, piece.path)
        if declared is None:
            meant = did_you_mean(piece.path[0], arguments.get("properties", {}))
            notes.error(path, "template", f"`{piece.name}` is not a declared argument; {meant}")
        elif not alone and not declared.certain:
            message = f"`{piece.name}` may be missing, and a text needs it: make it required or give it a default"
            notes.error(path, "template", message)
        elif not alone and not declared.may_be_text:
            notes.error(path, "template", f"`{piece.name}` is of type {declared.type} and cannot stand inside a text")


def _written(piece: Piece) -> str:
    """A piece as template text again, so that an operator's braces stay literal."""
    if isinstance(piece, Reference):
        return f"{{{piece.name}}}"
    return literal(str(piece))
