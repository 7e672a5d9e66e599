"""The command, from its options to a measured ratio."""

import json
import re
import shutil
from pathlib import Path

import pytest

from bench.__main__ import main, parse
from bench.cases import CASES, GROWTH_WRITE
from bench.servers import write_manifests
from gateway.adapters.cel.engine import CelEngine
from gateway.adapters.files.manifests import load_directory
from gateway.manifest.building import Operator

ROOT = Path(__file__).resolve().parents[2]


def test_the_gate_measures_what_has_a_target_at_64_connections() -> None:
    """And leaves memory, which takes minutes, to the full run."""
    options = parse(["--gate"])
    assert options.connections == [64]
    assert options.laps == 9
    assert "memory" not in options.only


def test_the_gate_of_the_makefile_leaves_out_no_target() -> None:
    """What CI measures is every kind of call that has a target of its own, and that a thousand manifests cost a write nothing."""
    (cases,) = re.findall(r"^GATE \?= (\S+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert cases.split(",") == [*(case.id for case in CASES if case.target is not None), GROWTH_WRITE.id]


def test_quick_is_quicker() -> None:
    """Three laps and fewer calls."""
    assert parse(["--quick"]).laps < parse([]).laps
    assert parse(["--quick"]).calls < parse([]).calls


def test_laps_are_as_many_as_asked_for() -> None:
    """More of them than it takes by itself, or fewer; also of a quick run."""
    assert [parse([*words, "--laps", "41"]).laps for words in ([], ["--gate"], ["--quick"])] == [41, 41, 41]


@pytest.mark.parametrize(
    "words",
    [
        ["--only", "nothing"],
        ["--connections", "many"],
        ["--connections", "0"],
        ["--laps", "0"],
        ["--laps", "many"],
        ["--gate", "--connections", "8"],
        ["--gate", "--only", "downstream"],
        ["--gate", "--only", "read,memory"],
    ],
)
def test_what_does_not_exist_is_a_usage_error(words: list[str]) -> None:
    """Exit 2, before a server is started."""
    with pytest.raises(SystemExit) as ended:
        parse(words)
    assert ended.value.code == 2


def test_without_wrk_it_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """One sentence and exit 2; nothing can be installed where there is no package manager."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["--quick"]) == 2
    assert capsys.readouterr().err == "wrk is not installed; on Debian: apt-get install wrk\n"


def test_a_thousand_manifests_load(tmp_path: Path) -> None:
    """They are the same read under other names, and the tools of the benchmark."""
    write_manifests(tmp_path / "tools", 1000)
    operator = Operator(engine=CelEngine(), environment={"DOWNSTREAM_URL": "http://127.0.0.1:9"}, secrets={})
    loaded = load_directory(tmp_path / "tools", operator)
    assert loaded.catalogue is not None
    assert len(loaded.catalogue.tools) == 1000


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("wrk") is None, reason="wrk is not installed")
def test_a_ratio_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    """Real servers, real load: replays cost something, and less than a hundred proxies."""
    assert main(["--quick", "--connections", "8", "--only", "replay,refusal", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(case["id"], case["connections"]) for case in told["cases"]] == [("replay", 8), ("refusal", 8)]
    assert all(0.01 < case["ratio"] < 100 for case in told["cases"])
    assert all(case["calls_per_s"] > 0 for case in told["cases"])
