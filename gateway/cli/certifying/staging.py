"""The tool to certify, pointed at one address in place of the operator's own."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from gateway.adapters.cel.engine import CelEngine
from gateway.adapters.files.manifests import load_directory
from gateway.cli.exits import Exit, Failure
from gateway.manifest.building import Operator
from gateway.manifest.catalog import Catalogue
from gateway.manifest.complaint import Severity, did_you_mean
from gateway.manifest.policies import Effect
from gateway.manifest.tool import Tool

_LEADING: Final = re.compile(r"\$\{([A-Z][A-Z0-9_]*)\}")
_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """The tool, and the read that its look-up asks, both at the address given."""

    tool: Tool
    reader: Tool | None
    host_port: str


def stage(
    directory: Path,
    name: str,
    against: str,
    *,
    names: tuple[str, ...],
    environ: Mapping[str, str],
    secrets: Mapping[str, str],
    production: bool,
) -> Staged:
    """Load the manifests with `against` as the downstream's address.

    Args:
        directory: the manifests.
        name: the tool's.
        against: the base address that takes the place of the `${NAME}` at the beginning of a URL.
        names: the names that `${NAME}` may use.
        environ: their values, those of the gateway itself.
        secrets: what `${secret:NAME}` stands for.
        production: whether `against` may be where the gateway itself sends calls.

    Raises:
        Failure: there is no such tool, it does not load, claims nothing, or is not at `against`.
    """
    origin = origin_of(against)
    draft = _loaded(directory, dict.fromkeys(names, "https://unset.invalid"), None)
    leading = {found for tool in _concerned(draft, name) if (found := _leading_name(tool)) is not None}
    if not production:
        _is_elsewhere(leading, origin, environ)
    values = {it: against if it in leading else environ.get(it, "") for it in names}
    missing = [it for it in names if it not in leading and it not in environ]
    if missing:
        raise Failure(f"{missing[0]} is used by the manifests and is not in the environment.", Exit.USAGE)
    loaded = _loaded(directory, values, secrets)
    tool, *readers = _concerned(loaded, name)
    for it in (tool, *readers):
        if it.backend.origin != origin:
            message = f"{it.name} names {it.backend.origin} itself; begin its URL with ${{NAME}} to try it elsewhere."
            raise Failure(message, Exit.USAGE)
        if _leading_name(it) is None and not production:
            raise Failure(f"{it.name} has no other address than {origin}; {_MEANT}", Exit.USAGE)
    _claims_something(tool)
    parts = urlsplit(origin)
    return Staged(tool=tool, reader=readers[0] if readers else None, host_port=parts.netloc)


_MEANT: Final = "a certification really acts. If that is meant, say --production."


def origin_of(url: str) -> str:
    """`scheme://host:port` of an address.

    Raises:
        Failure: it is none.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS[parts.scheme]
        host = parts.hostname or ""
    except (ValueError, KeyError):
        host, port, parts = "", 0, urlsplit("")
    if not host or "@" in parts.netloc or parts.query or parts.fragment:
        raise Failure(f"--against {url} is no address; write http:// or https:// and a host.", Exit.USAGE)
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def _loaded(directory: Path, environment: Mapping[str, str], secrets: Mapping[str, str] | None) -> Catalogue:
    loaded = load_directory(directory, Operator(engine=CelEngine(), environment=environment, secrets=secrets))
    if loaded.catalogue is None:
        first = next(it for it in loaded.complaints if it.severity is Severity.ERROR)
        place = f"{first.file}:{first.line}:{first.column}"
        raise Failure(f"the manifests do not load: {place}: {first.message}.", Exit.USAGE)
    return loaded.catalogue


def _concerned(catalogue: Catalogue, name: str) -> list[Tool]:
    tool = catalogue.get(name)
    if tool is None:
        raise Failure(f"there is no tool {name}; {did_you_mean(name, catalogue.tools)}.", Exit.USAGE)
    lookup = tool.reconcile.lookup
    reader = None if lookup is None else catalogue.get(lookup.tool)
    concerned = [tool] if reader is None else [tool, reader]
    for it in concerned:
        if it.backend.mcp is not None:
            raise Failure(f"{it.name} is a tool of an MCP server; a certification sends HTTP requests.", Exit.USAGE)
    return concerned


def _leading_name(tool: Tool) -> str | None:
    url: Any = json.loads(tool.canonical)["backend"]["http"]["url"]
    found = _LEADING.match(url)
    return None if found is None else found[1]


def _is_elsewhere(leading: set[str], origin: str, environ: Mapping[str, str]) -> None:
    """What the gateway itself calls is what may not be tried by accident."""
    for name in sorted(leading):
        if environ.get(name) and origin_of(environ[name]) == origin:
            raise Failure(f"{origin} is what {name} names, where the gateway itself sends calls; {_MEANT}", Exit.USAGE)


def _claims_something(tool: Tool) -> None:
    if tool.effect is Effect.READ:
        raise Failure(f"{tool.name} is a read: it claims nothing about effects.", Exit.USAGE)
    if tool.downstream_key is None and tool.reconcile.lookup is None and tool.effect is Effect.WRITE:
        owner = "nobody" if tool.unknown is None else tool.unknown.owner
        message = f"{tool.name} claims neither a key nor a look-up; its unknown outcomes are settled by {owner}."
        raise Failure(message, Exit.USAGE)
