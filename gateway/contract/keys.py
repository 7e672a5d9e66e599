"""Keys and hashes: what makes two calls one operation, and one action the action that was approved.

All of them are SHA-256 over canonical JSON (`canonical.py`), so that any language can compute them; golden vectors
are in `tests/wire/`. Identity comes from the operation, never from the attempt and never from chance.
"""

import binascii
import hashlib
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from gateway.contract.canonical import canonical
from gateway.contract.quick import quick

MIN_KEY_LENGTH: Final = 22
"""Characters of base64url that hold 128 bits. A shorter key could meet another operation's."""

UUID_LENGTH: Final = 36

_URL_SAFE: Final = bytes.maketrans(b"+/", b"-_")
_VISIBLE_KEY: Final = re.compile(r"[\x21-\x7e]{1,255}", re.ASCII)
_QUOTED_KEY: Final = re.compile(r'"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"', re.ASCII)


class InvalidIdempotencyKey(ValueError):  # noqa: N818 - named as its error code
    """The header is not 1 to 255 visible ASCII characters, bare or as a quoted string."""


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class OperationIdentity:
    """What two calls must share to be the same operation.

    Attributes:
        operation: `identity.operation` of the manifest, by default the tool's name.
        scope: None for the whole tenant, else the run id or the subject.
        fields: identity arguments by name, normalised; or `{"idempotency_key": …}` with `fields: caller`.
    """

    tenant: str
    operation: str
    scope: str | None
    fields: Mapping[str, Any]


@quick
@dataclass(frozen=True, slots=True)
class IdentityText:
    """An identity in canonical JSON: what stands before and behind the place of the occurrence."""

    before: bytes
    behind: bytes

    def identity_key(self) -> str:
        """The key of all occurrences together: under it they are found."""
        return _hashed(self.before + self.behind)

    def operation_key(self, occurrence: int) -> str:
        """The key of one occurrence, 43 characters of base64url. `occurrence` counts from 1."""
        return _hashed(b'%b"occurrence":%d,%b' % (self.before, occurrence, self.behind))


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """Everything an approval is bound to.

    Attributes:
        arguments: the material ones.
        headers: of the rendered request, in sending order, without secrets.
        body: of the rendered request, bytes.
        policy_digest: over effect, backend, rules and approval of the manifest.
    """

    tool: str
    arguments: Mapping[str, Any]
    operation_key: str
    subject: str
    run_id: str | None
    method: str
    origin: str
    target: str
    headers: Sequence[tuple[str, str]]
    body: bytes
    policy_digest: str


def identity_text(identity: OperationIdentity) -> IdentityText:
    """What all keys of an identity are hashed from, written once.

    Raises:
        NotCanonical: an identity field has no canonical form.
    """
    # In the order of canonical JSON: identity, occurrence, operation, scope, tenant, v.
    behind = _behind(identity.tenant, identity.operation, identity.scope)
    return IdentityText(b'{"identity":%b,' % canonical(identity.fields), behind)


def fingerprint(material: Mapping[str, Any]) -> str:
    """The hash of the material arguments: equal exactly when two calls ask for the same thing.

    Raises:
        NotCanonical: an argument has no canonical form.
    """
    return _digest(material)


def action_hash(action: Action) -> str:
    """`sha256:` and 64 hexadecimal digits over the whole action.

    Raises:
        NotCanonical: an argument has no canonical form.
    """
    document = {
        "v": 1,
        "tool": action.tool,
        "arguments": action.arguments,
        "operation_key": action.operation_key,
        "subject": action.subject,
        "run_id": action.run_id,
        "request": {
            "method": action.method,
            "origin": action.origin,
            "target": action.target,
            "headers": [[name, value] for name, value in action.headers],
            "body_sha256": hashlib.sha256(action.body).hexdigest(),
        },
        "policy_digest": action.policy_digest,
    }
    return "sha256:" + hashlib.sha256(canonical(document)).hexdigest()


def downstream_key(key: str, *, key_format: str, max_length: int) -> str:
    """An operation key as the downstream stores and compares it. Quotes are not part of it: see `quoted_key`.

    Args:
        key: the operation key.
        key_format: `raw`, `quoted` or `uuid`, as `downstream_key.format` of the manifest.
        max_length: raw and quoted keys are cut to so many characters.

    Raises:
        ValueError: `max_length` leaves less than 128 bits, or less than a UUID needs.
    """
    if key_format == "uuid":
        if max_length < UUID_LENGTH:
            raise ValueError(f"a UUID needs {UUID_LENGTH} characters and max_length is {max_length}")
        # Version bits of a random UUID, because some providers check for them; the value follows from the key.
        return str(uuid.UUID(bytes=hashlib.sha256(key.encode()).digest()[:16], version=4))
    if max_length < MIN_KEY_LENGTH:
        raise ValueError(f"max_length is {max_length} and a key needs {MIN_KEY_LENGTH} characters to stay unique")
    return key[:max_length]


def key_form(*parts: str) -> str:
    """Tells apart under what a downstream has a key: equal parts, in this order, give equal forms."""
    # Members of enumerations as the texts that they are: canonical JSON then needs no walk to write the same bytes.
    return _digest([str(part) for part in parts])


def quoted_key(key: str) -> str:
    """A downstream key as a structured-field string, as draft-ietf-httpapi-idempotency-key-header writes it."""
    return f'"{key}"'


def parse_idempotency_key(header: str) -> str:
    """A caller's `Idempotency-Key`. `"abc"` and `abc` are the same key: the draft's quotes are taken off.

    Raises:
        InvalidIdempotencyKey: it is not 1 to 255 visible ASCII characters.
    """
    key = header
    if header.startswith('"'):
        if not _QUOTED_KEY.fullmatch(header):
            raise InvalidIdempotencyKey("the quoted string does not end where the header does")
        key = re.sub(r"\\(.)", r"\1", header[1:-1])
    if not _VISIBLE_KEY.fullmatch(key):
        raise InvalidIdempotencyKey("an Idempotency-Key is 1 to 255 visible ASCII characters")
    return key


# Few distinct values, unless the scope is the run.
@lru_cache(maxsize=1024)
def _behind(tenant: str, operation: str, scope: str | None) -> bytes:
    return canonical({"operation": operation, "scope": scope, "tenant": tenant, "v": 1})[1:]


def _digest(document: Any) -> str:
    return _hashed(canonical(document))


def _hashed(text: bytes) -> str:
    digest = hashlib.sha256(text).digest()
    return binascii.b2a_base64(digest, newline=False).translate(_URL_SAFE, b"=").decode()
