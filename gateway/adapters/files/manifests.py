"""A directory of manifests: read whole, compiled whole."""

import stat
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from gateway.adapters.files.documents import FOLDER, DocumentFolder
from gateway.manifest.building import Operator
from gateway.manifest.catalog import Catalogue, Loaded, inspect, load
from gateway.manifest.complaint import Complaint, Severity
from gateway.manifest.ports import ExpressionEngine

SUFFIXES: Final = frozenset({".yaml", ".yml", ".json"})
MAX_FILE_BYTES: Final = 1_048_576

# Stands for a listed name whose value is not known while checking; the domain exists nowhere (RFC 2606).
_UNKNOWN_VALUE: Final = "https://unset.invalid"


def load_directory(path: Path, operator: Operator, previous: Catalogue | None = None) -> Loaded:
    """Every manifest below `path`, in the order of their names; a file is named relative to `path` in complaints.

    Never raises for what is in the directory: a missing directory or an unreadable file is a complaint.
    """
    files, unreadable = _read(path)
    loaded = load(files, replace(operator, documents=DocumentFolder(path / FOLDER)), previous)
    if not unreadable:
        return loaded
    return Loaded(catalogue=None, complaints=(*unreadable, *loaded.complaints))


def check_directory(
    path: Path, env_names: Collection[str] | Mapping[str, str], engine: ExpressionEngine
) -> list[Complaint]:
    """Every complaint about the manifests below `path`, without secrets and without a network.

    Args:
        path: the directory.
        env_names: the names that `${NAME}` may use; with their values, if they are known here.
        engine: compiles the expressions.
    """
    known = env_names if isinstance(env_names, Mapping) else dict.fromkeys(env_names, _UNKNOWN_VALUE)
    files, unreadable = _read(path)
    operator = Operator(engine=engine, environment=known, documents=DocumentFolder(path / FOLDER))
    return [*unreadable, *inspect(files, operator)]


def _read(path: Path) -> tuple[list[tuple[str, bytes]], list[Complaint]]:
    """The files, and a complaint about each that cannot be read."""
    files: list[tuple[str, bytes]] = []
    unreadable: list[Complaint] = []
    for name, content in read_files(path):
        if isinstance(content, bytes):
            files.append((name, content))
        else:
            unreadable.append(Complaint(severity=Severity.ERROR, rule="yaml", message=content, file=name))
    return files, unreadable


def read_files(path: Path) -> Iterator[tuple[str, bytes | str]]:
    """Name and content of each manifest below `path`, or why it cannot be read."""
    if not path.is_dir():
        yield str(path), "there is no such directory"
        return
    found = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and not _is_left_out(file, path))
    if not found:
        yield str(path), "there is no manifest in this directory (*.yaml, *.yml, *.json)"
    for file in found:
        name = file.relative_to(path).as_posix()
        try:
            status = file.stat()
            if not stat.S_ISREG(status.st_mode):
                # Reading a pipe would wait for its writer for ever.
                yield name, "this is not a regular file"
            elif status.st_size > MAX_FILE_BYTES:
                yield name, f"the file is larger than {MAX_FILE_BYTES} bytes"
            else:
                yield name, file.read_bytes()
        except OSError as error:
            yield name, f"the file cannot be read: {error.strerror}"


def _is_left_out(file: Path, root: Path) -> bool:
    parts = file.relative_to(root).parts
    return parts[0] == FOLDER or any(part.startswith(".") for part in parts)
