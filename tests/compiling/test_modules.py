"""Which modules are compiled."""

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
