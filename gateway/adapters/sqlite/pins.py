"""The manifests that records were made with."""

from collections.abc import Sequence

import apsw

from gateway.stages.execute.operation.ports import PinnedManifest


def keep(connection: apsw.Connection, manifests: Sequence[PinnedManifest], wall: float) -> None:
    """Pin manifests; those that are pinned stay as they are."""
    connection.executemany(
        "INSERT INTO manifests (digest, tool, operation, revision, pinned_wall, canonical) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        ((it.digest, it.tool, it.operation, it.revision, wall, it.canonical) for it in manifests),
    )


def kept(connection: apsw.Connection) -> tuple[PinnedManifest, ...]:
    """Every pinned manifest, in the order in which they were pinned."""
    found = connection.execute(
        "SELECT digest, tool, operation, revision, canonical FROM manifests ORDER BY pinned_wall, digest"
    )
    return tuple(
        PinnedManifest(digest=digest, tool=tool, operation=operation, revision=revision, canonical=canonical)
        for digest, tool, operation, revision, canonical in found
    )


def count(connection: apsw.Connection) -> int:
    """How many manifests are pinned. The same work for a thousand as for five."""
    ((found,),) = connection.execute("SELECT value FROM meta WHERE name = 'pins'")
    return int(found)
