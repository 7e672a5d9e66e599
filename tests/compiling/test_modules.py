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
    } <= set(chosen(ROOT))


def test_no_coroutine_is_compiled() -> None:
    """Only ports, which have no bodies, may declare one."""
    for name in chosen(ROOT):
        if not name.endswith("/ports.py"):
            assert "async def" not in (ROOT / name).read_text(encoding="utf-8"), name


def test_what_is_left_out_exists() -> None:
    """A reason outlives no module."""
    assert [name for name in LEFT_OUT if not (ROOT / name).exists()] == []
    assert not set(LEFT_OUT) & set(chosen(ROOT))
