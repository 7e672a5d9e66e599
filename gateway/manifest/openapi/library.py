"""The OpenAPI documents beside a set of manifests, each parsed once."""

from collections.abc import Iterable, Mapping

from gateway.manifest.complaint import did_you_mean
from gateway.manifest.openapi.document import ApiDocument, At, OpenApiError, parse
from gateway.manifest.openapi.operations import Operation, Refusal, operations
from gateway.manifest.openapi.references import Documents
from gateway.manifest.openapi.understanding import Understood, understand


class Library:
    """Files by name, relative to the manifest directory. Nothing else can be read."""

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        self._files = files or {}
        self._documents: dict[str, Documents] = {}
        self._operations: dict[str, dict[str, Operation | Refusal]] = {}

    def understood(self, document: str, operation: str) -> Understood:
        """What one operation takes and sends.

        Raises:
            OpenApiError: there is no such document or operation, or it cannot be called.
        """
        if document not in self._documents and document not in self._files:
            raise OpenApiError(
                f"there is no document `{document}`; {did_you_mean(document, self._files)}", At(document)
            )
        documents = self.documents(document)
        named = self._operations.get(document)
        if named is None:
            named = self._operations[document] = _by_name(operations(documents))
        found = named.get(operation)
        if found is None:
            meant = did_you_mean(operation, list(named)[:200])
            raise OpenApiError(f"the document has no operation `{operation}`; {meant}", At(document, ("paths",)))
        if isinstance(found, Refusal):
            raise found.error
        return understand(found, documents)

    def documents(self, name: str) -> Documents:
        """One document, with the files beside it.

        Raises:
            OpenApiError: it cannot be read.
        """
        if name not in self._documents:
            main: ApiDocument = parse(name, self._files[name])
            self._documents[name] = Documents(main, self._files)
        return self._documents[name]

    def complaint(self, error: OpenApiError) -> str:
        """The error as one sentence, with its place in the document where there is one."""
        if error.place is not None:
            return f"{error} ({error.at.file}:{error.place.line}:{error.place.column})"
        known = (documents for documents in self._documents.values() if documents.has(error.at.file))
        documents = next(known, None)
        return str(error) if documents is None or not error.at.path else f"{error} ({documents.where(error.at)})"


def _by_name(found: Iterable[Operation | Refusal]) -> dict[str, Operation | Refusal]:
    named: dict[str, Operation | Refusal] = {}
    for operation in found:
        # The first of two with one name stays what it is; the second is a refusal.
        named.setdefault(operation.name, operation)
    return named
