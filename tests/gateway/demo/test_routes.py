import asyncio
import json
from typing import Any

import pytest

from gateway.demo.behaviour import Behaviour, Ending, Hold, Script, Scripts
from gateway.demo.events import Events
from gateway.demo.ledger import Ledger
from gateway.demo.routes import Outcome, Routes
from gateway.demo.wire import Request

REFUND = {"payment": "pay_1", "paise": 100}


class Counter:
    """The provider without its sockets."""

    def __init__(self, *, honours_keys: bool = True, has_lookup: bool = True) -> None:
        self.ledger, self.scripts, self.events = Ledger(":memory:"), Scripts(), Events()
        self.routes = Routes(self.ledger, self.scripts, self.events, honours_keys=honours_keys, has_lookup=has_lookup)

    async def ask(self, method: str, path: str, body: dict[str, Any] | None = None, key: str | None = None) -> Outcome:
        """Send one request."""
        headers = {} if key is None else {"idempotency-key": key}
        url, _, query = path.partition("?")
        pairs = dict(each.split("=") for each in query.split("&") if each)
        content = b"" if body is None else json.dumps(body).encode()
        return await self.routes.carry_out(Request(method=method, path=url, query=pairs, headers=headers, body=content))

    async def refund(self, order: str = "ORD-1", key: str | None = None, **changes: Any) -> Outcome:
        """Ask for one refund."""
        return await self.ask("POST", f"/orders/{order}/refunds", {**REFUND, **changes}, key)


async def test_a_repeat_without_a_key_is_another_refund() -> None:
    """Without a key every request that arrives is carried out."""
    counter = Counter()
    for _ in range(3):
        await counter.refund()

    assert counter.ledger.count("ORD-1") == 3


async def test_a_repeat_with_its_key_gets_the_stored_answer() -> None:
    """The same key and body: one effect, the same answer, and a header that says so."""
    counter = Counter()
    first, second = await counter.refund(key="k"), await counter.refund(key="k")

    assert counter.ledger.count() == 1
    assert first.reply.body == second.reply.body
    assert (first.reply.headers, second.reply.headers) == ((), (("Idempotent-Replayed", "true"),))


async def test_a_key_with_another_body_is_refused() -> None:
    """The same key for another amount is 422, and no effect."""
    counter = Counter()
    await counter.refund(key="k")

    assert (await counter.refund(key="k", paise=200)).reply.status == 422
    assert counter.ledger.count() == 1


async def test_a_refusal_is_kept_under_its_key() -> None:
    """Who asks again under the key of a refusal is refused again, though all is well by now; another key is carried out."""
    counter = Counter()
    counter.scripts.put("POST", "ORD-1", Script(then=Behaviour(effect=False, status=402)))
    first = await counter.refund(key="k")
    counter.scripts.put("POST", "ORD-1", Script())
    again = await counter.refund(key="k")

    assert (first.reply.status, again.reply.status, again.reply.body) == (402, 402, first.reply.body)
    assert again.reply.headers == (("Idempotent-Replayed", "true"),)
    assert counter.ledger.count() == 0
    assert (await counter.refund(key="k", paise=200)).reply.body == {"error": "this key came with another body"}
    assert (await counter.refund(key="other")).reply.status == 200


@pytest.mark.parametrize("status", [401, 403, 408, 409, 429, 503])
async def test_a_refusal_of_this_moment_is_not_kept(status: int) -> None:
    """Too many requests, and the like, say nothing of the request: under the same key it is carried out later."""
    counter = Counter()
    counter.scripts.put("POST", "ORD-1", Script(then=Behaviour(effect=False, status=status)))
    await counter.refund(key="k")
    counter.scripts.put("POST", "ORD-1", Script())

    assert (await counter.refund(key="k")).reply.status == 200


async def test_a_key_in_progress_is_refused() -> None:
    """While the first request with a key is under way, the second is 409, and no effect."""
    counter = Counter()
    counter.scripts.put("POST", "ORD-1", Script(then=Behaviour(hold=Hold.EFFECT)))
    first = asyncio.create_task(counter.refund(key="k"))
    while not await counter.events.after(0):
        pass
    second = await counter.refund(key="k")
    counter.scripts.release("ORD-1")

    assert (second.reply.status, (await first).reply.status, counter.ledger.count()) == (409, 200, 1)


async def test_a_provider_that_ignores_keys_refunds_again() -> None:
    """Switched to ignore them, keys change nothing."""
    counter = Counter(honours_keys=False)
    for _ in range(2):
        await counter.refund(key="k")

    assert counter.ledger.count() == 2


async def test_refunds_are_listed_whole_with_their_keys() -> None:
    """The list of an order's refunds says that it is complete, and names each refund's key."""
    counter = Counter()
    await counter.refund(key="k")
    listed = await counter.ask("GET", "/orders/1/refunds")

    assert listed.reply.body["complete"] is True
    assert [(each["refund_id"], each["idempotency_key"]) for each in listed.reply.body["refunds"]] == [
        ("RF-99201", "k")
    ]


async def test_refunds_can_be_listed_by_payment() -> None:
    """Asked for one payment, the list has its refunds only."""
    counter = Counter()
    await counter.refund(payment="pay_1")
    await counter.refund(payment="pay_2")
    listed = await counter.ask("GET", "/orders/1/refunds?payment_id=pay_2")

    assert [each["payment_id"] for each in listed.reply.body["refunds"]] == ["pay_2"]


async def test_a_provider_without_a_look_up_lists_nothing() -> None:
    """Switched off, the list of refunds is not there."""
    counter = Counter(has_lookup=False)

    assert (await counter.ask("GET", "/orders/1/refunds")).reply.status == 404


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/orders/8472", None, 200),
        ("GET", "/orders/nope", None, 404),
        ("GET", "/policies?query=approval", None, 200),
        ("GET", "/nowhere", None, 404),
        ("POST", "/policy/search", {"query": "approval"}, 200),
        ("POST", "/notifications", {"customer": "cust-3391"}, 200),
        ("POST", "/notifications", {}, 422),
        ("POST", "/nowhere", {}, 422),
        ("POST", "/orders/1/refunds", {"payment": "pay_1", "paise": 0}, 422),
        ("POST", "/orders/1/refunds", {"payment": "pay_1", "paise": True}, 422),
        ("POST", "/orders/1/refunds", {"payment": "pay_1", "paise": 1.5}, 422),
        ("POST", "/orders/1/refunds", {"payment": "pay_1", "paise": 425000.0}, 200),
        ("POST", "/_control", {"next": []}, 422),
        ("POST", "/_control", {"subject": "1", "next": [{"ending": "explode"}]}, 422),
        ("GET", "/_nowhere", None, 404),
        ("DELETE", "/orders/1", None, 405),
    ],
)
async def test_each_endpoint_answers(method: str, path: str, body: dict[str, Any] | None, status: int) -> None:
    """What is there answers, what is not says so, and a wrong body is refused."""
    assert (await Counter().ask(method, path, body)).reply.status == status


async def test_a_script_comes_through_the_control_endpoint() -> None:
    """A scripted refusal has no effect and ends as scripted; the request after it is treated well."""
    counter = Counter()
    slow_down = {"effect": False, "ending": "status", "status": 429, "retry_after_s": 1}
    await counter.ask("POST", "/_control", {"subject": "1", "next": [slow_down]})
    first, second = await counter.refund("ORD-1"), await counter.refund("ORD-1")

    assert first.behaviour == Behaviour(effect=False, ending=Ending.STATUS, status=429, retry_after_s=1)
    assert (second.reply.status, counter.ledger.count()) == (200, 1)


async def test_delays_lie_before_and_after_the_effect() -> None:
    """`after_s` delays an answer whose effect is already in the books; `hold` stops there until it is released."""
    counter = Counter()
    held = {"before_s": 0.001, "after_s": 0.001, "hold": "answer"}
    await counter.ask("POST", "/_control", {"subject": "1", "next": [held]})
    asked = asyncio.create_task(counter.refund())
    events = await counter.events.after(1)

    assert ([each["event"] for each in events], counter.ledger.count(), asked.done()) == (["effect", "over"], 1, False)
    await counter.ask("POST", "/_control", {"release": "1"})
    assert (await asked).reply.status == 200


async def test_an_effect_can_come_after_the_end() -> None:
    """`late_effect_s` answers first and refunds later; until then the key is in progress."""
    counter = Counter()
    late = {"late_effect_s": 0.02, "ending": "status", "status": 504}
    await counter.ask("POST", "/_control", {"subject": "1", "next": [late]})
    first = await counter.refund(key="k")
    second = await counter.refund(key="k")

    assert (first.behaviour.ending, second.reply.status, counter.ledger.count()) == (Ending.STATUS, 409, 0)
    assert [each["event"] for each in await counter.events.after(4)] == ["effect", "over"]
    assert (await counter.refund(key="k")).reply.headers == (("Idempotent-Replayed", "true"),)


async def test_a_late_effect_can_wait_for_its_release() -> None:
    """`hold: late` answers at once; the refund is made when it is released."""
    counter = Counter()
    await counter.ask("POST", "/_control", {"subject": "1", "next": [{"hold": "late"}]})
    first = await counter.refund()
    before = counter.ledger.count()
    await counter.ask("POST", "/_control", {"release": "1"})
    quiet = await counter.ask("GET", "/_ledger?quiet=ORD-1")

    assert (first.reply.status, before, quiet.reply.body["count"]) == (202, 0, 1)


async def test_a_count_can_wait_for_what_is_under_way() -> None:
    """Asked to be quiet about an order, the ledger answers when nothing that arrived for it can act any more."""
    counter = Counter()
    await counter.ask("POST", "/_control", {"subject": "1", "next": [{"late_effect_s": 0.02}, {"before_s": 0.02}]})
    await counter.refund()
    second = asyncio.create_task(counter.refund())
    early = await counter.ask("GET", "/_ledger?subject=ORD-1")
    quiet = await counter.ask("GET", "/_ledger?subject=ORD-1&quiet=ORD-1")
    await second

    assert (early.reply.body["count"], quiet.reply.body["count"]) == (0, 2)


async def test_one_order_is_booked_under_one_name() -> None:
    """Blanks and case around an order's number do not make another order."""
    counter = Counter()
    for spelling in ("ORD-1", " ord-1 ", "1"):
        await counter.refund(spelling)

    assert counter.ledger.count("ORD-1") == 3


async def test_the_ledger_can_be_asked_over_the_wire() -> None:
    """The count of one order, and the events so far."""
    counter = Counter()
    await counter.refund("1")
    await counter.refund("2")

    assert (await counter.ask("GET", "/_ledger?subject=ORD-1")).reply.body["count"] == 1
    assert [each["event"] for each in (await counter.ask("GET", "/_events?after=3")).reply.body["events"]] == [
        "received",
        "effect",
        "over",
    ]
