from pathlib import Path

from gateway.demo.ledger import Ledger, StoredAnswer


def test_every_effect_is_one_row_of_its_order(tmp_path: Path) -> None:
    """Two refunds of one order are two effects of it, and none of another order."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    for _ in range(2):
        ledger.refund(order="ORD-1", payment="pay_1", amount_paise=100, key=None, fingerprint="f")

    assert (ledger.count("ORD-1"), ledger.count("ORD-2"), ledger.count()) == (2, 0, 2)


def test_the_third_refund_is_the_one_of_the_incident() -> None:
    """Refunds are numbered so that the third is RF-99203."""
    ledger = Ledger(":memory:")
    answers = [
        ledger.refund(order="ORD-4471", payment="pay_4471", amount_paise=425_000, key=None, fingerprint="f")
        for _ in range(3)
    ]

    assert [each["refund_id"] for each in answers] == ["RF-99201", "RF-99202", "RF-99203"]


def test_a_key_finds_its_answer_and_the_body_it_came_with() -> None:
    """What was answered under a key is found again; a new key finds nothing."""
    ledger = Ledger(":memory:")
    answer = ledger.notify(customer="cust-1", key="k", fingerprint="f")

    assert ledger.stored_answer("k") == StoredAnswer(fingerprint="f", status=200, answer=answer)
    assert ledger.stored_answer("other") is None


def test_the_books_outlive_the_process(tmp_path: Path) -> None:
    """A ledger opened again still has its rows."""
    path = tmp_path / "ledger.sqlite"
    first = Ledger(path)
    first.refund(order="ORD-1", payment="pay_1", amount_paise=100, key="k", fingerprint="f")
    first.close()

    assert [effect.idempotency_key for effect in Ledger(path).effects()] == ["k"]


def test_the_report_has_requests_without_an_effect() -> None:
    """A request that did nothing is in the report, and does not count."""
    ledger = Ledger(":memory:")
    ledger.note_request(method="GET", path="/orders/1", subject="ORD-1", key=None, body=b"")

    report = ledger.report("ORD-1")
    assert (report["count"], [each["path"] for each in report["requests"]]) == (0, ["/orders/1"])
