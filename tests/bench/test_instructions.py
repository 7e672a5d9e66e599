"""Instructions a call: what is read from callgrind's dumps."""

from pathlib import Path

from bench.cases import MCP, READ
from bench.instructions import Cost, cost_in, head_of


def test_the_dump_of_the_counted_calls_is_read(tmp_path: Path) -> None:
    """Dumps from before and after the counted calls hold nothing; the one between holds them all."""
    (tmp_path / "callgrind.1").write_text("events: Ir\nsummary: 7\ntotals: 123456\n\n", encoding="utf-8")
    (tmp_path / "callgrind.2").write_text("events: Ir\ntotals: 0\n", encoding="utf-8")
    (tmp_path / "callgrind").write_text("totals: 999999\n", encoding="utf-8")

    assert cost_in(tmp_path, calls=2) == Cost(instructions=61_728)


def test_misses_are_read_where_caches_were_simulated(tmp_path: Path) -> None:
    """Of code and of data, those read and those written."""
    (tmp_path / "callgrind.1").write_text(
        "events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw\ntotals: 900 80 70 1 2 4 8 16 32\n", encoding="utf-8"
    )

    assert cost_in(tmp_path) == Cost(instructions=900, near=7, far=56)


def test_a_case_is_sent_to_its_own_path_with_its_own_headers() -> None:
    """An MCP call goes to /mcp, a call of a tool to the tool's route."""
    mcp, read = head_of(MCP, "localhost", "og_x", 7), head_of(READ, "localhost", "og_x", 7)

    assert mcp.startswith("POST /mcp HTTP/1.1\r\nHost: localhost\r\n")
    assert "\r\nMcp-Method: tools/call\r\n" in mcp
    assert read.startswith("POST /v1/tools/find_refund/calls HTTP/1.1\r\n")
    assert "Mcp-" not in read
    assert read.endswith("\r\nAuthorization: Bearer og_x\r\nContent-Length: 7\r\n\r\n")
