"""The revisions of the protocol that are spoken here, and the two ways in which a request says which one it means."""

from enum import StrEnum
from typing import Final


class Version(StrEnum):
    """A revision, by its date."""

    V2025_03_26 = "2025-03-26"
    V2025_06_18 = "2025-06-18"
    V2025_11_25 = "2025-11-25"
    V2026_07_28 = "2026-07-28"

    @property
    def is_modern(self) -> bool:
        """Each request carries its version and the client's capabilities; there is no `initialize`."""
        return self is Version.V2026_07_28


SUPPORTED: Final = tuple(sorted(Version, reverse=True))
"""Newest first, as clients are told."""
NEWEST_LEGACY: Final = Version.V2025_11_25
"""What `initialize` offers to a client that asks for a revision not known here."""
WITHOUT_HEADER: Final = Version.V2025_03_26
"""Its clients send no `MCP-Protocol-Version`; later ones must, once they have initialized."""
BY_NAME: Final = {version.value: version for version in Version}


def negotiated(asked: object) -> Version:
    """What `initialize` answers to the revision that a client asks for."""
    known = BY_NAME.get(asked) if isinstance(asked, str) else None
    return NEWEST_LEGACY if known is None or known.is_modern else known
