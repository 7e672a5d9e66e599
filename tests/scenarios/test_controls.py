"""Each protection taken out in turn: the row that leans on it must go wrong, and only without it."""

import re
from pathlib import Path

import pytest

from bench.nursery import forked
from bench.scenarios import oncegate
from bench.scenarios.catalogue import SCENARIOS
from bench.scenarios.oncegate import OnceGate
from bench.scenarios.replicas import Replicas, Store
from bench.scenarios.run import Plan, Row, run
from bench.scenarios.stage import Column, Stage
from bench.scenarios.table import row_text
from bench.scenarios.target import Kind, Setting
from bench.scenarios.unsafe import PROTECTIONS, Without
from gateway.demo.gateway_process import COMMAND
from gateway.demo.provider_process import ProviderProcess

pytestmark = pytest.mark.slow

CONTROLS = [
    ("look-up-trusted-at-once", "S1L", Column.LOOKUP, "2 effects, not 1"),
    ("look-up-without-baseline", "S9y", Column.LOOKUP, "which is not in the ledger"),
    ("lease-expiry-frees", "S3", Column.PLAIN, "2 effects, not 1"),
    ("lease-expiry-frees", "S5", Column.PLAIN, "2 effects, not 1|a failure was told that is not proved"),
    ("classified-by-exception", "S9", Column.PLAIN, "effects, not 1"),
    ("classified-by-exception", "S9r", Column.PLAIN, "effects, not 1"),
    ("key-from-raw-arguments", "S10", Column.PLAIN, "one refund got several answers"),
    ("approval-for-any-amount", "S8", Column.PLAIN, "1 effects, not 0"),
    ("anybody-approves", "S8s", Column.PLAIN, "the requester's word was taken"),
    ("no-hold", "S1o", Column.PLAIN, "2 effects, not 1"),
]


SHARED = ["half-open-for-all", "breaker-of-its-own"]


async def play(name: str, plan: Plan) -> Row:
    """Run one row."""
    [row] = [row async for row in run([each for each in SCENARIOS if each.id == name], plan)]
    return row


@pytest.mark.parametrize(("protection", "name", "column", "wrong"), CONTROLS)
async def test_without_the_protection_the_row_is_wrong(protection: str, name: str, column: Column, wrong: str) -> None:
    """With everything on the row is right (`test_oncegate`); with one part exchanged it shows the wrong answer."""
    command = Without(protection).command
    without = await play(name, Plan(new_target=lambda: OnceGate(command=command), columns=(column,)))
    finding = without.findings[column]

    assert finding is not None
    assert re.search(wrong, finding.wrong), row_text(without)


@pytest.mark.parametrize("store", Store)
async def test_one_of_fifty_callers_is_the_probe(store: Store) -> None:
    """The breaker is half open, fifty callers wait at two gateways, one of them cold: one reaches the provider."""
    columns = (Column.PLAIN, Column.KEYED, Column.LOOKUP)
    row = await play("S7", Plan(new_target=lambda: Replicas(store), columns=columns))

    assert row.passed, row_text(row)
    assert [finding and finding.effects for finding in row.findings.values()] == [1, 1, 1]


@pytest.mark.parametrize("store", Store)
@pytest.mark.parametrize("protection", SHARED)
async def test_without_a_shared_probe_many_reach_the_provider(protection: str, store: Store) -> None:
    """Where the half-open breaker lets everybody in, or each gateway knows what it has seen itself."""
    without = await play("S7", Plan(new_target=Without(protection, store), columns=(Column.KEYED,)))
    finding = without.findings[Column.KEYED]

    assert finding is not None
    assert "reached the provider, not 1" in finding.wrong, row_text(without)


ONLY_ONCE = """
rules:
  - code: refunded_already
    lookup: {tool: get_refund_status, arguments: {order_id: "{args.order_id}"}}
    require: lookup.data.refunds.all(refund, refund.payment_id != args.payment_id)
    message: "Payment {args.payment_id} is refunded already."
"""


def with_a_rule(folder: Path) -> Path:
    """The scenario manifests with an execution rule on every write: what the refund changes is what the rule sees."""
    for manifest in oncegate.MANIFESTS.glob("issue_*.yaml"):
        text = manifest.read_text(encoding="utf-8")
        (folder / manifest.name).write_text(f"{text}{ONLY_ONCE}", encoding="utf-8")
    status = oncegate.MANIFESTS / "get_refund_status.yaml"
    (folder / status.name).write_text(status.read_text(encoding="utf-8"), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("command", "told"),
    [(COMMAND, (Kind.DONE, None)), (Without("rules-before-the-record").command, (Kind.NOT_EXECUTED, "rule_denied"))],
)
async def test_a_refund_that_was_made_does_not_come_back_as_not_executed(
    command: tuple[str, ...], told: tuple[Kind, str | None], tmp_path: Path
) -> None:
    """The record answers before the rules that the refund itself has changed; with the rules first it is denied."""
    provider = await ProviderProcess.start(tmp_path, launch=forked)
    (tmp_path / "manifests").mkdir()
    target = OnceGate(command=command, manifests=with_a_rule(tmp_path / "manifests"))
    await target.start(Setting(provider_url=provider.url, folder=tmp_path))
    stage = Stage(provider=provider, target=target, column=Column.PLAIN, order="ORD-1")
    first, second = await stage.ask(), await stage.ask()
    await target.stop()
    await provider.stop()

    assert first.kind is Kind.DONE
    assert (second.kind, second.code) == told


def test_every_protection_has_a_control() -> None:
    """No protection can be taken out without a test that says what then goes wrong; the linger's is in the partition's tests."""
    shown = {protection for protection, *_ in CONTROLS} | set(SHARED)
    assert shown == set(PROTECTIONS) - {"no-linger", "rules-before-the-record"}
