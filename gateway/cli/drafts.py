"""Drafts of an import on the disk."""

from collections.abc import Mapping
from pathlib import Path

from gateway.cli.exits import Exit, Failure


def write_drafts(wanted: Mapping[Path, bytes]) -> list[str]:
    """Write all of them, and say where. A person may have worked on what is there: it is never overwritten.

    Raises:
        Failure: one is there already and differs; then nothing is written.
    """
    for path, content in wanted.items():
        if path.exists() and path.read_bytes() != content:
            raise Failure(f"{path} is there already and differs; move it away, or choose another --out.", Exit.USAGE)
    for path, content in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return [str(path) for path in wanted]
