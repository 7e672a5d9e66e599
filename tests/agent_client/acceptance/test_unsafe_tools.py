"""Tools that must not stand in an autonomous loop."""

from pathlib import Path

import pytest

from gateway.adapters.cel.engine import CelEngine
from gateway.adapters.files.shelf import Shelf
from gateway.manifest.building import Operator
from tests.agent_client.world import manifests


def test_L49_a_write_that_nothing_could_settle_is_no_tool_at_all(tmp_path: Path) -> None:
    """Neither a downstream key nor a look-up, and nothing that says who finds out: the gateway does not load it."""
    bare = {"issue_refund": {"downstream_key": None, "reconcile": None, "holds": None}}
    operator = Operator(engine=CelEngine(), environment={"PAYMENTS_URL": "http://127.0.0.1:9"}, secrets={})

    with pytest.raises(ValueError, match=r"issue_refund\.yaml"):
        Shelf(manifests(tmp_path / "manifests", bare), operator)
