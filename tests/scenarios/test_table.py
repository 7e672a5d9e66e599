from pathlib import Path

from bench.scenarios.catalogue import SCENARIOS
from bench.scenarios.naive import Naive
from bench.scenarios.oncegate import read_envelope
from bench.scenarios.run import Plan, Row, run
from bench.scenarios.stage import Column, Finding
from bench.scenarios.table import in_turn, row_json, row_text
from bench.scenarios.target import Call, Kind, Told

UNKNOWN = Told(kind=Kind.UNKNOWN, code="outcome_unknown")
DONE = Told(kind=Kind.DONE, refund_id="RF-99201")


async def rows_of(*names: str, columns: tuple[Column, ...]) -> dict[str, Row]:
    """Run rows with the naive client in every column: a gateway that protects nothing."""
    plan = Plan(new_target=Naive, columns=columns)
    wanted = [each for each in SCENARIOS if each.id in names]
    return {row.scenario.id: row async for row in run(wanted, plan)}


async def test_the_naive_client_makes_what_the_peers_make() -> None:
    """Three refunds for a late answer, two after a crash, four for a broken answer, one for a forwarded argument."""
    rows = await rows_of("S1", "S3", "S6", "S9", "S12", columns=(Column.NAIVE,))
    effects = {name: finding.effects for name, row in rows.items() if (finding := row.findings[Column.NAIVE])}

    assert effects == {"S1": 3, "S3": 2, "S6": 1, "S9": 4, "S12": 1}


async def test_a_gateway_that_protects_nothing_fails() -> None:
    """The naive client in a gateway's column is judged, and every such row is wrong."""
    rows = await rows_of("S2", "S4", "S9r", columns=(Column.PLAIN,))

    assert {name: row.passed for name, row in rows.items()} == {"S2": False, "S4": False, "S9r": False}


async def test_logs_can_be_kept(tmp_path: Path) -> None:
    """With a folder for the logs, the ledgers are still there afterwards."""
    plan = Plan(new_target=Naive, columns=(Column.NAIVE,), logs=tmp_path)
    async for _ in run([each for each in SCENARIOS if each.id in {"S6", "S12"}], plan):
        pass

    assert [(tmp_path / world / "ledger.sqlite").exists() for world in ("shared", "S12-naive")] == [True, True]


class Crashing(Naive):
    """A target that breaks instead of answering."""

    async def call(self, call: Call, *, process: int = 0) -> Told:
        """Break."""
        raise RuntimeError(f"no answer to {call.tool} from {process}")


async def test_a_cell_that_breaks_is_wrong_and_the_others_go_on() -> None:
    """What a target raises is what is wrong with its cell."""
    plan = Plan(new_target=Crashing, columns=(Column.NAIVE, Column.PLAIN))
    rows = [row async for row in run([each for each in SCENARIOS if each.id in {"S6", "S12"}], plan)]

    assert [row.passed for row in rows] == [False, False]
    assert "?" in row_text(rows[0]).splitlines()[0]
    assert "RuntimeError no answer to issue_refund_plain" in row_text(rows[0])
    assert [finding.effects for row in rows if (finding := row.findings[Column.NAIVE])] == [1, 1]


def test_a_row_shows_figures_words_and_what_is_wrong() -> None:
    """Effects in the first line; below it what each column was told, and why it is wrong."""
    wrong = Finding(effects=2, told=(UNKNOWN, UNKNOWN, DONE), wrong="2 effects, not 1")
    row = Row(scenario=SCENARIOS[0], findings={Column.NAIVE: None, Column.PLAIN: wrong})
    first, *rest = row_text(row).splitlines()

    assert first.split()[-4:] == ["1", "-", "2", "FAIL"]
    assert [line.split(maxsplit=1)[-1] for line in rest] == [
        "told: outcome_unknown x2, then RF-99201",
        "2 effects, not 1",
    ]
    assert row_json(row)["columns"] == {
        "naive": None,
        "plain": {
            "effects": 2,
            "told": [
                {"kind": "unknown", "refund_id": None, "code": "outcome_unknown"},
                {"kind": "unknown", "refund_id": None, "code": "outcome_unknown"},
                {"kind": "done", "refund_id": "RF-99201", "code": None},
            ],
            "wrong": "2 effects, not 1",
        },
    }


def test_words_are_told_in_turn() -> None:
    """Equal answers that follow each other are counted, a stored one is marked."""
    stored = Told(kind=Kind.DONE, refund_id="RF-99201", replayed=True)

    assert in_turn([UNKNOWN, DONE, stored, stored]) == "outcome_unknown, then RF-99201, then RF-99201 (stored) x2"
    assert in_turn([]) == "-"


def test_an_envelope_tells_its_caller_one_thing() -> None:
    """Each kind of envelope is read as what it says about the effect."""

    def error(code: str, outcome: str) -> Kind:
        return read_envelope({"ok": False, "data": None, "error": {"code": code, "outcome": outcome}, "meta": {}}).kind

    done = {"ok": True, "data": {"refund_id": "RF-1"}, "error": None, "meta": {"replayed": True}}
    assert read_envelope(done) == Told(kind=Kind.DONE, refund_id="RF-1", replayed=True)
    assert error("timeout_unknown_outcome", "unknown") is Kind.UNKNOWN
    assert error("done_result_lost", "executed") is Kind.EXECUTED
    assert error("unknown_arguments", "not_executed") is Kind.NOT_EXECUTED
    assert error("idempotency_conflict", "not_executed") is Kind.CONFLICT
    assert error("idempotency_in_progress", "unknown") is Kind.IN_PROGRESS
    assert error("store_unavailable", "not_executed") is Kind.TURNED_AWAY
    assert read_envelope({"failure": "ReadError"}).kind is Kind.NOTHING
