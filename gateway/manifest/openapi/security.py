"""Which credential an operation wants, as headers that name a secret."""

import re
from collections.abc import Mapping
from typing import Any, Final

from gateway.manifest.openapi.document import At, OpenApiError
from gateway.manifest.openapi.operations import Operation
from gateway.manifest.openapi.references import Documents, shown

_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}")
_SCHEMES: Final[Mapping[str, str]] = {"bearer": "Bearer", "basic": "Basic", "digest": "", "token": "Token"}


def headers(operation: Operation, documents: Documents, prefix: str) -> dict[str, str]:
    """The headers of the first way in that can be written; empty if the operation wants none.

    Args:
        operation: whose.
        documents: where the schemes are.
        prefix: what the secrets' names begin with, such as `SHOP`.

    Raises:
        OpenApiError: every way in wants what is not sent, such as a secret in a URL.
    """
    root = documents.main.value
    wanted = operation.value.get("security", root.get("security", []))
    if not isinstance(wanted, list) or not wanted or {} in wanted:
        return {}
    schemes = root.get("components", {})
    schemes = schemes.get("securitySchemes", {}) if isinstance(schemes, Mapping) else {}
    first: OpenApiError | None = None
    for way in wanted:
        try:
            return _way(way, schemes, documents, prefix, operation.at.below("security"))
        except OpenApiError as error:
            first = first or error
    assert first is not None  # noqa: S101 - `wanted` was not empty, and each way returned or raised
    raise first


def _way(way: Any, schemes: Any, documents: Documents, prefix: str, at: At) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in way if isinstance(way, Mapping) else ():
        scheme = schemes.get(name) if isinstance(schemes, Mapping) else None
        where = At(documents.main.name, ("components", "securitySchemes", name))
        scheme, where = documents.deref(scheme, where)
        if not isinstance(scheme, Mapping):
            raise OpenApiError(f"the security scheme `{shown(name)}` is not declared", at)
        found |= _header(name, scheme, prefix, where)
    return found


def _header(name: str, scheme: Mapping[str, Any], prefix: str, at: At) -> dict[str, str]:
    kind = str(scheme.get("type"))
    secret = f"${{secret:{prefix}_{_word(name)}}}"
    if kind in {"oauth2", "openIdConnect"}:
        return {"Authorization": f"Bearer {secret}"}
    if kind == "http":
        said = str(scheme.get("scheme", "")).lower()
        if not _SCHEMES.get(said):
            raise OpenApiError(f"the HTTP scheme `{shown(said)}` is not written", at)
        return {"Authorization": f"{_SCHEMES[said]} {secret}"}
    if kind == "apiKey":
        place, header = scheme.get("in"), scheme.get("name")
        if place != "header":
            raise OpenApiError(
                f"its credential goes into the {shown(str(place))}, and secrets go into headers only", at
            )
        if not isinstance(header, str) or not _HEADER.fullmatch(header):
            raise OpenApiError("its credential's header has no usable name", at)
        return {header: secret}
    raise OpenApiError(f"the security scheme `{shown(str(kind))}` is not carried out", at)


def _word(name: str) -> str:
    return re.sub(r"[^A-Z0-9]+", "_", name.upper()).strip("_") or "TOKEN"
