"""The tools in use, loaded from a directory and swapped whole when it is loaded anew."""

import logging
from pathlib import Path

from gateway.adapters.files.manifests import load_directory
from gateway.manifest.building import Operator
from gateway.manifest.catalog import Catalogue, load_pinned
from gateway.manifest.complaint import Complaint, Severity
from gateway.manifest.tool import Tool

_log = logging.getLogger("oncegate")


class Shelf:
    """One immutable catalogue at a time; a bad file keeps the old one and says so.

    Raises:
        ValueError: on construction, when the directory does not load. The message has every complaint.
    """

    def __init__(self, directory: Path, operator: Operator) -> None:
        self._directory = directory
        self._operator = operator
        loaded = load_directory(directory, operator)
        if loaded.catalogue is None:
            raise ValueError(f"the manifests in {directory} cannot be used:\n{_told(loaded.complaints)}")
        self._catalogue = loaded.catalogue

    @property
    def catalogue(self) -> Catalogue:
        """The tools in use."""
        return self._catalogue

    def compile(self, canonical: bytes) -> Tool | None:
        """The tool of a pinned manifest, with this operator's values; None if it does not compile any more."""
        return load_pinned(canonical, self._operator)

    def reload(self) -> bool:
        """Load the directory anew. False: something in it is wrong, and the old catalogue stays."""
        loaded = load_directory(self._directory, self._operator, self._catalogue)
        if loaded.catalogue is None:
            _log.error("manifests not reloaded: %s", _told(loaded.complaints))
            return False
        self._catalogue = loaded.catalogue
        return True


def _told(complaints: tuple[Complaint, ...]) -> str:
    return "\n".join(
        f"{it.file}:{it.line}:{it.column}: {it.message}" for it in complaints if it.severity is Severity.ERROR
    )
