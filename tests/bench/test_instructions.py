"""Instructions a call: what is read from callgrind's dumps."""

from pathlib import Path

from bench.instructions import counted


def test_the_dump_of_the_counted_calls_is_read(tmp_path: Path) -> None:
    """Dumps from before and after the counted calls hold nothing; the one between holds them all."""
    (tmp_path / "callgrind.1").write_text("events: Ir\nsummary: 7\ntotals: 123456\n", encoding="utf-8")
    (tmp_path / "callgrind.2").write_text("events: Ir\ntotals: 0\n", encoding="utf-8")
    (tmp_path / "callgrind").write_text("totals: 999999\n", encoding="utf-8")

    assert counted(tmp_path) == 123_456
