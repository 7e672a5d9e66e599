"""Which buckets a call takes from, and what its caller is told."""

import pytest

from gateway.contract.call import Caller
from gateway.contract.envelope import Share
from gateway.manifest.policies import Rate, ToolLimits
from gateway.stages.execute.breaker import quotas as module
from gateway.stages.execute.breaker.quotas import OperatorRates, in_words, quotas, shares

AGENT = Caller(subject="agent", tenant="acme")
SECOND, DAY = Rate(count=5, per_s=1.0), Rate(count=100, per_s=86400.0)
EVERY = ToolLimits(rate=(SECOND, DAY), tenant_rate=(SECOND,), total_rate=(DAY,))
OPERATORS = OperatorRates(caller=(SECOND,), tenant=(DAY,))


def test_every_level_has_its_bucket() -> None:
    """The tenant's own first; what everybody shares is in another partition, and has no name to be told by."""
    told = [(it.name, it.partition, it.rate) for it in quotas("act", EVERY, OPERATORS, AGENT)]

    assert told == [
        ("tool-caller-per-s", "acme", SECOND),
        ("tool-caller-per-d", "acme", DAY),
        ("caller-per-s", "acme", SECOND),
        ("tool-tenant-per-s", "acme", SECOND),
        ("tenant-per-d", "acme", DAY),
        (None, "", DAY),
    ]


@pytest.mark.parametrize(
    ("tool", "caller", "shared"),
    [
        ("act", AGENT, {"all"}),
        ("other", AGENT, {"caller-per-s", "tenant-per-d"}),
        ("act", Caller(subject="other", tenant="acme"), {"tool-tenant-per-s", "tenant-per-d", None}),
        ("act", Caller(subject="agent", tenant="globex"), {None}),
    ],
)
def test_who_shares_a_bucket(tool: str, caller: Caller, shared: set[str | None]) -> None:
    """A tool's with its callers, a caller's with itself, a tenant's with its own, and the last with everybody."""
    ours = {(it.partition, it.key): it.name for it in quotas("act", EVERY, OPERATORS, AGENT)}
    theirs = {(it.partition, it.key): it.name for it in quotas(tool, EVERY, OPERATORS, caller)}
    both = {ours[name] for name in ours.keys() & theirs.keys()}

    assert both == (set(ours.values()) if shared == {"all"} else shared)
    assert len(ours) == 6


def test_names_and_subjects_cannot_be_mistaken_for_one_another() -> None:
    """A subject that looks like another's tool and name has a bucket of its own."""
    limits = ToolLimits(rate=(SECOND,))
    one = quotas("a", limits, OperatorRates(), Caller(subject="b:c", tenant="t"))
    other = quotas("a:b", limits, OperatorRates(), Caller(subject="c", tenant="t"))

    assert one[0].key != other[0].key


def test_buckets_are_worked_out_once_for_a_caller() -> None:
    """And anew for other limits under the same name: nothing of a manifest outlives its reload."""
    limits = ToolLimits(rate=(SECOND,))
    first = quotas("act", limits, OPERATORS, AGENT)

    assert quotas("act", limits, OPERATORS, Caller(subject="agent", tenant="acme")) is first
    assert [it.rate for it in quotas("act", ToolLimits(rate=(DAY,)), OPERATORS, AGENT)] == [DAY, SECOND, DAY]
    assert [it.rate for it in quotas("act", limits, OperatorRates(), AGENT)] == [SECOND]
    assert quotas("act", limits, OPERATORS, AGENT) == first


def test_callers_are_not_remembered_without_end() -> None:
    """Whoever may choose subjects cannot fill the memory."""
    limits = ToolLimits(rate=(SECOND,))
    for number in range(module._MOST_MET + 1):
        quotas("act", limits, OperatorRates(), Caller(subject=f"s-{number}", tenant="acme"))

    assert len(module._met) <= module._MOST_MET


def test_a_caller_is_told_what_is_left() -> None:
    """Whole calls, and whole seconds until all are there again; nothing of what others share."""
    asked = quotas("act", EVERY, OperatorRates(), AGENT)
    told = shares(asked, (4.0, 98.5, 2.9, 7.0))

    assert told == (
        Share(name="tool-caller-per-s", quota=5, window_s=1, left=4, reset_s=1),
        Share(name="tool-caller-per-d", quota=100, window_s=86400, left=98, reset_s=1296),
        Share(name="tool-tenant-per-s", quota=5, window_s=1, left=2, reset_s=1),
    )


def test_a_refused_caller_is_told_when_to_come_back() -> None:
    """The same moment as Retry-After."""
    asked = quotas("act", ToolLimits(rate=(DAY,)), OperatorRates(), AGENT)

    assert shares(asked, (0.5,), refused=0, wait_s=432.0)[0] == Share(
        name="tool-caller-per-d", quota=100, window_s=86400, left=0, reset_s=432
    )


def test_rates_in_words_and_in_truth() -> None:
    """For the sentence, and for the question whether there are any."""
    assert in_words(DAY) == "100 calls in 86400 s"
    assert (bool(OperatorRates()), bool(OPERATORS)) == (False, True)
    assert bool(OperatorRates(tenant=(DAY,)))
