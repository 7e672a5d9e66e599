"""`oncegate breakers`."""

import json

import pytest

from gateway.contract.requests import BreakerView, BreakerWord, ForcedView, ForceRequest
from tests.gateway.cli.run import run_against
from tests.gateway.fronts.http.fake_core import OPERATOR, OPERATOR_TOKEN
from tests.gateway.fronts.http.served import Served, serving


async def test_breakers_are_listed() -> None:
    """How each stands, and whose word keeps it there."""
    async with serving() as served:
        forced = ForcedView(to="open", reason="bank holiday", for_s=599.6)
        served.core.standing = (
            BreakerView(scope="orders", state="closed"),
            BreakerView(
                scope="payments", state="open", failures=5, since_wall=1793178842.0, retry_after_s=12.2, forced=forced
            ),
        )
        result = await run_against(served, "breakers", "list", key=OPERATOR_TOKEN)
        served.core.standing = ()
        nothing = await run_against(served, "breakers", "list", key=OPERATOR_TOKEN)

    _, orders, payments = result.stdout.splitlines()
    assert orders.split() == ["orders", "closed", "0", "-", "-", "-"]
    assert payments.split(maxsplit=6) == [
        "payments", "open", "5", "2026-10-28T09:14:02.000Z", "12", "s", "open for 600 s: bank holiday",
    ]  # fmt: skip
    assert nothing.stdout.startswith("No breakers")


async def test_a_word_is_passed_on() -> None:
    """Open or closed, with a reason and for a time; or taken back. The breaker is shown as it stands then."""
    async with serving() as served:
        why = ["--reason", "bank holiday", "--for"]
        opened = await run_against(
            served, "breakers", "open", "https://pay.example:443", *why, "2h", key=OPERATOR_TOKEN
        )
        await run_against(served, "breakers", "close", "payments", *why, "1.5s", key=OPERATOR_TOKEN)
        taken = await run_against(served, "breakers", "release", "payments", "--json", key=OPERATOR_TOKEN)

    assert opened.stdout.split()[:2] == ["breaker", "https://pay.example:443"]
    assert json.loads(taken.stdout)["data"]["scope"] == "payments"
    assert served.core.asked == [
        ("https://pay.example:443", ForceRequest(word=BreakerWord.OPEN, reason="bank holiday", for_s=7200.0), OPERATOR),
        ("payments", ForceRequest(word=BreakerWord.CLOSED, reason="bank holiday", for_s=1.5), OPERATOR),
        ("payments", ForceRequest(word=BreakerWord.AUTO), OPERATOR),
    ]


@pytest.mark.parametrize("words", [["open", "payments", "--for", "2h"], ["close", "payments", "--reason", "why"]])
async def test_a_word_says_why_and_for_how_long(served: Served, words: list[str]) -> None:
    """Without either the gateway is not asked."""
    result = await run_against(served, "breakers", *words)

    assert (result.exit_code, served.core.asked) == (2, [])


async def test_a_time_without_its_unit_is_told(served: Served) -> None:
    """Minutes are not taken for seconds."""
    result = await run_against(served, "breakers", "open", "payments", "--reason", "why", "--for", "10")

    assert result.exit_code == 2
    assert "write a duration with its unit" in result.stderr
