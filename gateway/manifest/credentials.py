"""Literals that look like credentials. A manifest is committed, printed and pinned with records; secrets are not."""

import re
from collections.abc import Iterator
from typing import Any, Final

from gateway.manifest.notes import Notes
from gateway.manifest.yaml_events import Path

_CREDENTIAL: Final = re.compile(
    r"""
      -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----
    | \b(?:sk|pk|rk|whsec)_(?:live|test)_[A-Za-z0-9]{8,}       # Stripe and its imitators
    | \bsk-[A-Za-z0-9_-]{20,}
    | \bgh[pousr]_[A-Za-z0-9]{20,} | \bgithub_pat_[A-Za-z0-9_]{20,} | \bglpat-[A-Za-z0-9_-]{16,}
    | \bxox[abeprs]-[A-Za-z0-9-]{10,}
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b
    | \bAIza[A-Za-z0-9_-]{30,}
    | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*  # JSON Web Token
    | \b(?:Bearer|Basic)\ +[A-Za-z0-9+/_.~-]{12,}=*
    | ://[^/\s:@{}]+:[^/\s@{}]+@
    """,
    re.VERBOSE,
)
_SECRET_HEADER: Final = re.compile(
    r"(?i)authorization|(?:x-)?api-?key|x-auth-token|x-access-token|.*-secret(?:-.*)?|cookie"
)
_SECRET_PARAMETER: Final = re.compile(r"(?i)api_?key|access_?token|token|secret|password|signature")
_SECRET_VARIABLE: Final = re.compile(r"(?i)(?:api|access|private|secret)_?key|token|secret|passw(?:or)?d|credential")
_REQUESTS: Final = (("backend", "http"), ("backend", "mcp"))
_BY_REFERENCE: Final = re.compile(r"\$\{secret:|\{(?:args|caller)\.")

_MEND: Final = "reference it: `${secret:NAME}`, from the gateway's environment or a file"


def check(value: Any, notes: Notes) -> None:
    """Complain about every text of a manifest that looks like a credential, without repeating it."""
    for path, text in _texts(value, ()):
        place = path[2] if path[:2] in _REQUESTS and len(path) == 4 else None
        if _CREDENTIAL.search(text):
            notes.error(path, "credential", f"this looks like a credential; {_MEND}")
        elif place == "headers" and _SECRET_HEADER.fullmatch(str(path[3])) and not _BY_REFERENCE.search(text):
            notes.error(path, "credential", f"the header {path[3]} carries a credential; {_MEND}")
        elif place == "env" and _SECRET_VARIABLE.search(str(path[3])) and "${" not in text:
            notes.error(path, "credential", f"the variable {path[3]} carries a credential; {_MEND}")
        elif place == "query" and _SECRET_PARAMETER.fullmatch(str(path[3])) and "{" not in text:
            message = "a credential in a URL ends up in logs; send it in a header, by reference"
            notes.error(path, "credential", message)


def masked(text: str) -> str:
    """The text without what looks like a credential, for words that come from somebody else's document."""
    return _CREDENTIAL.sub("[...]", text)


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _texts(member, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, index))
