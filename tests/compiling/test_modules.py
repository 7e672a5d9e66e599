"""Which modules are compiled."""

import ast
from pathlib import Path

from compiling.modules import LEFT_OUT, chosen

ROOT = Path(__file__).parent.parent.parent


def test_what_a_call_passes_through_is_compiled() -> None:
    """The machine, the values, the parsers."""
    assert {
        "gateway/contract/envelope.py",
        "gateway/manifest/arguments.py",
        "gateway/stages/execute/operation/machine.py",
        "gateway/adapters/http_tool/answer_reader.py",
        "gateway/pipeline/writes.py",
    } <= set(chosen(ROOT))


def test_no_route_is_compiled() -> None:
    """A compiled coroutine function is an ordinary one to Starlette, which would take the coroutine for its answer."""
    routes = [
        name for name in chosen(ROOT) if "starlette.routing import Route" in (ROOT / name).read_text(encoding="utf-8")
    ]
    assert routes == []
    for endpoint in ("approvals", "catalogue", "health", "records", "gate"):
        assert f"gateway/fronts/http/{endpoint}.py" in LEFT_OUT


def test_what_is_left_out_exists() -> None:
    """A reason outlives no module."""
    assert [name for name in LEFT_OUT if not (ROOT / name).exists()] == []
    assert not set(LEFT_OUT) & set(chosen(ROOT))


def test_nothing_asks_a_value_for_its_slots() -> None:
    """Compiled, it has none; `dataclasses.fields` tells the names of both. What copies values asks about either."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for package in ("gateway", "agent_client")
        for path in sorted((ROOT / package).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "__slots__"
    ]
    assert [each.partition(":")[0] for each in found] == ["gateway/contract/changed.py"], found
