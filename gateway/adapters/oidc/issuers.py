"""The file of issuers: whose tokens are accepted, for which tenants, and what their claims mean here.

`docs/authentication.md` explains every field. Nothing in a token chooses an algorithm, a key's address or a tenant that
is not written in this file.
"""

from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from gateway.settings import Seconds
from gateway.wording import place_in_yaml, words_for

MOST_BYTES: Final = 262_144
_OPERATORS: Final = "operator:"
"""Permissions that no tenant's issuer can give: only `grants`, the operator's own word, names them."""

_EXAMPLES: Final = {
    "issuer": "`https://login.example.com`",
    "jwks_uri": "`https://login.example.com/keys`",
    "subject_prefix": "`corp|`",
}

Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]


class IssuersError(Exception):
    """The file of issuers cannot be used. One sentence with file and line."""


def _several(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


Word = Annotated[str, Field(min_length=1, max_length=255, pattern=r"^[^\x00-\x1f\x7f]+$")]
ClaimPath = Annotated[tuple[Word, ...], BeforeValidator(_several), Field(min_length=1, max_length=8)]
Words = Annotated[tuple[Word, ...], BeforeValidator(_several), Field(min_length=1, max_length=64)]
Address = Annotated[str, Field(pattern=r"^https://[^\s/?#@]+(/[^\s?#]*)?$", max_length=2048)]


class Claims(BaseModel):
    """Which claim is what; a list leads into nested objects."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    subject: ClaimPath = ("sub",)
    tenant: ClaimPath | None = None
    permissions: ClaimPath | None = None
    attributes: Annotated[dict[Word, ClaimPath], Field(max_length=64)] = {}


class Issuer(BaseModel):
    """One issuer of tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    issuer: Address
    audience: Words
    algorithms: Annotated[tuple[Algorithm, ...], BeforeValidator(_several), Field(min_length=1)]
    tenants: Words
    claims: Claims = Claims()
    grants: dict[Word, Words] | None = None
    subject_prefix: Annotated[str, Field(max_length=64, pattern=r"^[!-~]*$")] = ""
    jwks_uri: Address | None = None
    ca_file: Path | None = None
    skew: Annotated[Seconds, Field(ge=0, le=60)] = 30.0
    max_lifetime: Annotated[Seconds, Field(gt=0)] = 86_400.0
    decision_lifetime: Annotated[Seconds, Field(gt=0)] | None = None
    refresh: Annotated[Seconds, Field(ge=1, le=86_400)] = 600.0
    keep: Annotated[Seconds, Field(ge=1, le=604_800)] = 86_400.0
    cooldown: Annotated[Seconds, Field(ge=1, le=3600)] = 10.0
    timeout: Annotated[Seconds, Field(ge=0.05, le=30)] = 3.0

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if len(self.tenants) > 1 and self.claims.tenant is None:
            raise ValueError("with several tenants a claim must say which: add claims.tenant")
        if self.grants is not None and self.claims.permissions is None:
            raise ValueError("grants are looked up by a claim: add claims.permissions")
        if self.keep < self.refresh:
            raise ValueError("keep is shorter than refresh, so that keys would be thrown away before they are renewed")
        return self

    def permissions(self, named: tuple[str, ...]) -> frozenset[str]:
        """What the values of the permissions claim allow here."""
        if self.grants is None:
            return frozenset(name for name in named if not name.startswith(_OPERATORS))
        return frozenset(permission for name in named for permission in self.grants.get(name, ()))


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    issuers: Annotated[tuple[Issuer, ...], Field(min_length=1, max_length=64)]

    @model_validator(mode="after")
    def _apart(self) -> Self:
        seen: set[str] = set()
        taken: dict[str, list[Issuer]] = {}
        for issuer in self.issuers:
            if issuer.issuer in seen:
                raise ValueError(f"the issuer {issuer.issuer} is there twice")
            seen.add(issuer.issuer)
            for tenant in issuer.tenants:
                others = taken.setdefault(tenant, [])
                for other in others:
                    if _may_meet(other.subject_prefix, issuer.subject_prefix):
                        raise ValueError(
                            f"{other.issuer} and {issuer.issuer} both issue tokens for the tenant {tenant}: what one calls"
                            " its subject the other could call so too; give each of them a subject_prefix, and none that"
                            " begins with the other's"
                        )
                others.append(issuer)
        return self


def _may_meet(one: str, other: str) -> bool:
    """Whether subjects under the two prefixes can be equal: whoever has the shorter may go on as the longer does."""
    return one.startswith(other) or other.startswith(one)


def read_issuers(path: Path) -> tuple[Issuer, ...]:
    """The issuers of a file.

    Raises:
        IssuersError: it cannot be read, or says something that cannot be used.
    """
    try:
        text = path.read_bytes()
    except OSError as wrong:
        raise IssuersError(f"{path} cannot be read: {wrong.strerror}.") from None
    if len(text) > MOST_BYTES:
        raise IssuersError(f"{path} is larger than {MOST_BYTES} bytes.")
    try:
        node = yaml.compose(text.decode("utf-8"), Loader=yaml.CSafeLoader)
        _plain(node, path)
        document = None if node is None else yaml.CSafeLoader("").construct_document(node)
    except (UnicodeDecodeError, yaml.YAMLError, RecursionError) as malformed:
        raise IssuersError(f"{path} is not YAML: {place_in_yaml(malformed)}.") from None
    if not isinstance(document, dict):
        raise IssuersError(f"{path}:1: the file must hold `issuers:` and a list below it.")
    try:
        # A claim called 1 or true is not meant; what YAML takes for a number is one only where a number belongs.
        return _File.model_validate(document).issuers
    except ValidationError as invalid:
        error = invalid.errors(include_url=False, include_input=False)[0]
        message = words_for(error, _EXAMPLES.get(str(error["loc"][-1]) if error["loc"] else "", ""))
        where = ".".join(str(part) for part in error["loc"])
        line = _line(node, error["loc"])
        raise IssuersError(f"{path}:{line}: {f'{where}: ' if where else ''}{message}.") from None


def _plain(node: Any, path: Path) -> None:
    """No key twice, of which the last would win in silence, and nothing that is written elsewhere in the file."""
    seen: set[int] = set()
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one is None:
            continue
        if id(one) in seen:
            raise IssuersError(f"{path}:{one.start_mark.line + 1}: an alias; write it out.")
        seen.add(id(one))
        if isinstance(one, yaml.MappingNode):
            names: set[str] = set()
            for key, value in one.value:
                if key.value in names:
                    raise IssuersError(f"{path}:{key.start_mark.line + 1}: {key.value} is there twice.")
                names.add(str(key.value))
                waiting.append(value)
        elif isinstance(one, yaml.SequenceNode):
            waiting.extend(one.value)


def _line(node: Any, place: tuple[int | str, ...]) -> int:
    """Where the deepest part of `place` that is there stands."""
    for part in place:
        if isinstance(node, yaml.MappingNode):
            inner = next((value for key, value in node.value if key.value == part), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            inner = node.value[part]
        else:
            inner = None
        if inner is None:
            break
        node = inner
    return 1 if node is None else int(node.start_mark.line) + 1
