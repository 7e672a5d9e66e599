"""`$ref` inside a document and to files beside it. Nothing is ever fetched."""

import posixpath
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import unquote

from gateway.manifest.openapi.document import ApiDocument, At, Note, OpenApiError, parse
from gateway.manifest.yaml_events import Path, Place

_LONGEST_CHAIN: Final = 32


class Documents:
    """A document and the files beside it, each parsed when something refers to it."""

    def __init__(self, main: ApiDocument, beside: Mapping[str, bytes] | None = None) -> None:
        """`beside`: name, relative as `main.name` is, to content."""
        self.main = main
        self._beside = beside or {}
        self._parsed = {main.name: main}
        self._places: dict[At, Place] = {}
        self.used: set[str] = {main.name}

    def locate(self, places: Iterable[At]) -> None:
        """Find many places in one pass over each document; `where` then needs none."""
        missing: dict[str, list[Path]] = {}
        for at in places:
            if at not in self._places and at.file in self._parsed:
                missing.setdefault(at.file, []).append(at.path)
        for file, paths in missing.items():
            found = self._parsed[file].places(paths)
            self._places |= {At(file, path): place for path, place in found.items()}

    def where(self, at: At) -> str:
        """A place as `file:line:column`."""
        self.locate([at])
        place = self._places.get(at)
        return at.file if place is None else f"{at.file}:{place.line}:{place.column}"

    def told(self, note: Note) -> str:
        """A note with its place."""
        return f"{note.message} ({self.where(note.at)})"

    def has(self, file: str) -> bool:
        """Whether a file was read."""
        return file in self._parsed

    def deref(self, value: Any, at: At) -> tuple[Any, At]:
        """The value that stands at the end of a chain of references, and where.

        Raises:
            OpenApiError: a reference is remote, leads nowhere, or leads back to itself.
        """
        seen: set[At] = set()
        while isinstance(value, Mapping) and isinstance(value.get("$ref"), str):
            if at in seen or len(seen) > _LONGEST_CHAIN:
                raise OpenApiError(f"`$ref: {shown(value['$ref'])}` leads back to itself", at)
            seen.add(at)
            at = self.target(value["$ref"], at)
            value = self.value(at)
        return value, at

    def target(self, reference: str, at: At) -> At:
        """The place that a reference at `at` names.

        Raises:
            OpenApiError: it names a document that is not at hand, or is no JSON pointer.
        """
        address, _, pointer = reference.partition("#")
        file = at.file
        if address:
            if ":" in address or address.startswith("/"):
                message = (
                    f"`$ref: {shown(reference)}` is remote, and nothing is fetched; put that file beside the document"
                    " and refer to it by its name"
                )
                raise OpenApiError(message, at)
            file = posixpath.normpath(posixpath.join(posixpath.dirname(at.file), unquote(address)))
            self._read(file, reference, at)
        return At(file, self._path(pointer, file, reference, at))

    def value(self, at: At) -> Any:
        """What stands at a place that `target` gave."""
        found = self._parsed[at.file].value
        for part in at.path:
            found = found[part]
        return found

    def _read(self, file: str, reference: str, at: At) -> None:
        if file not in self._parsed:
            if file not in self._beside:
                raise OpenApiError(f"`$ref: {shown(reference)}`: there is no file {shown(file)} beside it", at)
            self._parsed[file] = parse(file, self._beside[file])
        self.used.add(file)

    def _path(self, pointer: str, file: str, reference: str, at: At) -> Path:
        if pointer and not pointer.startswith("/"):
            raise OpenApiError(
                f"`$ref: {shown(reference)}` names an anchor; refer by a path such as `#/components`", at
            )
        path: Path = ()
        found = self._parsed[file].value
        for part in pointer.split("/")[1:]:
            name = unquote(part).replace("~1", "/").replace("~0", "~")
            key: str | int = int(name) if isinstance(found, list) and name.isdecimal() else name
            try:
                found = found[key]
            except (KeyError, IndexError, TypeError):
                raise OpenApiError(f"`$ref: {shown(reference)}` leads to nothing", at) from None
            path = (*path, key)
        return path


def shown(text: object) -> str:
    """A document's own text in a message: short, and without what could move a terminal's cursor."""
    clean = "".join(letter if letter.isprintable() else "?" for letter in str(text)[:200])
    return clean if len(clean) <= 120 else f"{clean[:117]}..."
