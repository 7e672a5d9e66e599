from pathlib import Path

import pytest

from bench.scenarios import oncegate
from bench.scenarios.stage import TOOLS, Column
from gateway.adapters.cel.engine import CelEngine
from gateway.demo import sides
from gateway.manifest.building import Operator
from gateway.manifest.catalog import load
from gateway.manifest.complaint import Severity


def tools_in(folder: Path) -> set[str]:
    """The tools of a folder of manifests, which must load without an error."""
    files = [(path.name, path.read_bytes()) for path in sorted(folder.glob("*.yaml"))]
    loaded = load(files, Operator(engine=CelEngine(), environment={"PAYMENTS_URL": "http://127.0.0.1:1"}))
    assert [each for each in loaded.complaints if each.severity is Severity.ERROR] == []
    assert loaded.catalogue is not None
    return set(loaded.catalogue.tools)


@pytest.mark.parametrize("column", [Column.PLAIN, Column.KEYED, Column.LOOKUP])
def test_every_class_of_write_has_its_manifest(column: Column) -> None:
    """The manifests of the scenarios pass the linter, and each column's tool is there."""
    assert TOOLS[column] in tools_in(oncegate.MANIFESTS)


def test_the_demo_has_the_tools_of_its_agent_and_the_read_that_verifies_its_write() -> None:
    """The manifests of the demo pass the linter."""
    assert tools_in(sides.MANIFESTS) == {
        "lookup_order", "get_refund_status", "search_policy", "issue_refund", "notify_customer",
    }  # fmt: skip
