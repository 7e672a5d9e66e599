"""Complaints about one manifest, collected while it is compiled."""

from collections.abc import Iterable

from gateway.manifest.complaint import Complaint, Severity
from gateway.manifest.placeholders import TemplateError
from gateway.manifest.ports import CompileError
from gateway.manifest.yaml_events import Document, Path, Place


class Notes:
    """Knows the file, so that a rule needs to name a path only."""

    def __init__(self, file: str, text: str, document: Document) -> None:
        self._file = file
        self._lines = text.splitlines()
        self._document = document
        self.complaints: list[Complaint] = []

    @property
    def has_errors(self) -> bool:
        return any(complaint.severity is Severity.ERROR for complaint in self.complaints)

    def has(self, *path: str | int) -> bool:
        """Whether the file says anything at `path` (and not only the default does)."""
        return path in self._document.values

    def is_left_out(self, path: Path) -> bool:
        """Whether the file says no value at `path`, of the last member of a map in braces: `{key}`."""
        place = self._document.place(path)
        return self._lines[place.line - 1][place.column - 1 :].lstrip().startswith("}")

    def error(self, path: Path, rule: str, message: str, *, on_key: bool = False) -> None:
        self._add(Severity.ERROR, path, rule, message, on_key=on_key)

    def warning(self, path: Path, rule: str, message: str) -> None:
        self._add(Severity.WARNING, path, rule, message, on_key=True)

    def hint(self, path: Path, rule: str, message: str) -> None:
        self._add(Severity.HINT, path, rule, message, on_key=True)

    def template(self, path: Path, error: TemplateError) -> None:
        """A complaint at the offset in the text at `path`."""
        place = self._inside(path, 1, error.offset + 1)
        self._append(Severity.ERROR, place, "template", str(error))

    def expression(self, path: Path, errors: Iterable[CompileError]) -> None:
        """Complaints at their places in the expression at `path`."""
        for error in errors:
            place = self._inside(path, error.line, error.column)
            self._append(Severity.ERROR, place, "expression", error.message)

    def _inside(self, path: Path, line: int, column: int) -> Place:
        """The place in the file of a place in a text. Escapes and folded lines shift it; the line is still right."""
        start = self._document.place(path)
        if start.style in {"|", ">"}:
            row = start.line + line
            content = self._lines[row - 1] if row <= len(self._lines) else ""
            return Place(row, len(content) - len(content.lstrip()) + column)
        if line > 1:
            return Place(start.line + line - 1, column)
        return Place(start.line, start.column + column - 1 + (1 if start.style else 0))

    def _add(self, severity: Severity, path: Path, rule: str, message: str, *, on_key: bool) -> None:
        place = self._document.key_place(path) if on_key else self._document.place(path)
        self._append(severity, place, rule, message)

    def _append(self, severity: Severity, place: Place, rule: str, message: str) -> None:
        self.complaints.append(
            Complaint(
                severity=severity, rule=rule, message=message, file=self._file, line=place.line, column=place.column
            )
        )
