"""OpenAPI documents in a folder, read when they are asked for."""

import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from gateway.manifest.openapi.document import MAX_BYTES

FOLDER: Final = "openapi"
"""Below a manifest directory, files in this folder are documents and never manifests."""
_MAX_NAMES: Final = 1_000


class DocumentFolder(Mapping[str, bytes]):
    """`openapi/NAME` -> content of the file NAME below one folder. Nothing outside it is ever read, links included."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, name: str) -> bytes:
        head, _, rest = name.partition("/")
        path = self._inside(rest) if head == FOLDER and rest else None
        if path is None:
            raise KeyError(name)
        try:
            if not stat.S_ISREG(path.stat().st_mode):
                raise KeyError(name)
            with path.open("rb") as file:
                # One byte more than is allowed: the parser says that it is too large.
                return file.read(MAX_BYTES + 1)
        except OSError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def _inside(self, name: str) -> Path | None:
        if "\0" in name:
            return None
        root = self._folder.resolve()
        real = (root / name).resolve()
        return real if real.is_relative_to(root) else None

    def _names(self) -> list[str]:
        if not self._folder.is_dir():
            return []
        found = sorted(path for path in self._folder.rglob("*") if path.is_file())
        return [f"{FOLDER}/{path.relative_to(self._folder).as_posix()}" for path in found[:_MAX_NAMES]]
