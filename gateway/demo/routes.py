"""The provider's endpoints: what is read, what is done, what is scripted.

`GET /orders/{id}`, `GET /orders/{id}/refunds`, `GET /policies`, `POST /policy/search`,
`POST /orders/{id}/refunds`, `POST /notifications`; beside them `POST /_control`, `GET /_events` and `GET /_ledger`.
"""

import asyncio
import hashlib
import re
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gateway.demo.behaviour import HEALTHY, Behaviour, Hold, Script, Scripts, behaviour_from
from gateway.demo.events import Events
from gateway.demo.facts import find_order, find_policies, order_number
from gateway.demo.ledger import Ledger
from gateway.demo.wire import BadRequestError, Reply, Request

REFUNDS = re.compile(r"/orders/([^/]+)/refunds")
ORDER = re.compile(r"/orders/([^/]+)")
REPLAYED = ("Idempotent-Replayed", "true")

Work = Callable[[str | None, str], dict[str, Any]]
"""Does the thing under (key, fingerprint) and returns the answer that says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A reply, how its connection is to end, and whether the provider is to be deaf for a while after it."""

    reply: Reply
    subject: str = "-"
    behaviour: Behaviour = HEALTHY
    refuse_s: float | None = None


class Routes:
    """The provider without its sockets."""

    def __init__(
        self, ledger: Ledger, scripts: Scripts, events: Events, *, honours_keys: bool, has_lookup: bool
    ) -> None:
        self._ledger = ledger
        self._scripts = scripts
        self._events = events
        self._honours_keys = honours_keys
        self._has_lookup = has_lookup
        self._running: set[str] = set()
        self._under_way: Counter[str] = Counter()
        self._late: set[asyncio.Task[None]] = set()

    async def carry_out(self, request: Request) -> Outcome:
        """Do what a request asks for, as scripted."""
        try:
            if request.path.startswith("/_"):
                return await self._outside_the_ledger(request)
            match request.method:
                case "GET":
                    return await self._read(request)
                case "POST":
                    return await self._write(request)
                case _:
                    return Outcome(reply=Reply(status=405, body={"error": "GET and POST only"}))
        except BadRequestError as problem:
            return Outcome(reply=Reply(status=422, body={"error": str(problem)}))

    async def _outside_the_ledger(self, request: Request) -> Outcome:
        match request.method, request.path:
            case "POST", "/_control":
                return self._control(request.json())
            case "GET", "/_events":
                wait_s = float(request.query.get("timeout_s", "30"))
                events = await self._events.after(int(request.query.get("after", "0")), timeout_s=wait_s)
                return Outcome(reply=Reply(status=200, body={"events": events}))
            case "GET", "/_ledger":
                if "quiet" in request.query:
                    await self._quiet(subject_of(request.query["quiet"]))
                return Outcome(reply=Reply(status=200, body=self._ledger.report(request.query.get("subject"))))
            case _:
                return Outcome(reply=Reply(status=404, body={"error": "no such endpoint"}))

    async def _quiet(self, subject: str) -> None:
        """Wait until no request of a subject can have an effect any more."""
        seen = 0
        while self._under_way[subject]:
            events = await self._events.after(seen)
            seen = events[-1]["number"] if events else seen

    def _control(self, order: dict[str, Any]) -> Outcome:
        ok = Reply(status=200, body={"ok": True})
        try:
            if "refuse_s" in order:
                return Outcome(reply=ok, refuse_s=float(order["refuse_s"]))
            if "release" in order:
                self._scripts.release(subject_of(order["release"]))
                return Outcome(reply=ok)
            script = Script(
                next=deque(behaviour_from(each) for each in order.get("next", [])),
                then=behaviour_from(order.get("then", {})),
            )
            self._scripts.put(order.get("method", "POST"), subject_of(order["subject"]), script)
        except (KeyError, TypeError, ValueError) as problem:
            raise BadRequestError(f"not a script: {problem}") from problem
        return Outcome(reply=ok)

    async def _read(self, request: Request) -> Outcome:
        subject, reply = self._looked_up(request)
        behaviour = self._scripts.take("GET", subject)
        self._note(request, subject)
        await self._pause(behaviour, subject, Hold.ANSWER, behaviour.before_s + behaviour.after_s)
        return Outcome(reply=reply, subject=subject, behaviour=behaviour)

    def _looked_up(self, request: Request) -> tuple[str, Reply]:
        if found := REFUNDS.fullmatch(request.path):
            subject = subject_of(found[1])
            if not self._has_lookup:
                return subject, Reply(status=404, body={"error": "this provider does not list refunds"})
            refunds = self._refunds(subject, request.query.get("payment_id"))
            return subject, Reply(status=200, body={"refunds": refunds, "complete": True})
        if found := ORDER.fullmatch(request.path):
            order = find_order(found[1])
            unknown = Reply(status=404, body={"error": "no such order"})
            return subject_of(found[1]), Reply(status=200, body=order) if order else unknown
        if request.path == "/policies":
            passages = find_policies(request.query.get("query", ""))
            return "policies", Reply(status=200, body={"passages": passages})
        return "-", Reply(status=404, body={"error": "no such endpoint"})

    def _refunds(self, subject: str, payment: str | None) -> list[dict[str, Any]]:
        return [
            {
                "refund_id": effect.reference,
                "status": "settled",
                "amount_paise": effect.amount_paise,
                "payment_id": effect.payment,
                "idempotency_key": effect.idempotency_key,
            }
            for effect in self._ledger.effects(subject)
            if payment in {None, effect.payment}
        ]

    async def _write(self, request: Request) -> Outcome:
        body = request.json()
        if request.path == "/policy/search":
            passages = find_policies(_text(body, "query"))
            return Outcome(reply=Reply(status=200, body={"passages": passages}), subject="policies")
        subject, work = self._work(request.path, body)
        behaviour = self._scripts.take("POST", subject)
        self._under_way[subject] += 1
        self._note(request, subject)
        try:
            reply = await self._once(request, subject, behaviour, work)
        finally:
            self._over(subject)
        await self._pause(behaviour, subject, Hold.ANSWER, behaviour.after_s)
        return Outcome(reply=reply, subject=subject, behaviour=behaviour)

    def _over(self, subject: str) -> None:
        """One request can have no further effect."""
        self._under_way[subject] -= 1
        self._events.add("over", subject=subject, under_way=self._under_way[subject])

    def _work(self, path: str, body: dict[str, Any]) -> tuple[str, Work]:
        if found := REFUNDS.fullmatch(path):
            subject, payment, amount = subject_of(found[1]), _text(body, "payment"), _amount(body)
            return subject, lambda key, fingerprint: self._ledger.refund(
                order=subject, payment=payment, amount_paise=amount, key=key, fingerprint=fingerprint
            )
        if path == "/notifications":
            customer = _text(body, "customer")
            return customer, lambda key, fingerprint: self._ledger.notify(
                customer=customer, key=key, fingerprint=fingerprint
            )
        raise BadRequestError("no such endpoint")

    async def _once(self, request: Request, subject: str, behaviour: Behaviour, work: Work) -> Reply:
        """Do the work; under a key that is honoured, only the first time."""
        key = request.headers.get("idempotency-key")
        fingerprint = hashlib.sha256(request.path.encode() + request.body).hexdigest()
        if key and self._honours_keys:
            if stored := self._ledger.stored_answer(key):
                if stored.fingerprint != fingerprint:
                    return Reply(status=422, body={"error": "this key came with another body"})
                return Reply(status=stored.status, body=stored.answer, headers=(REPLAYED,))
            if key in self._running:
                return Reply(status=409, body={"error": "a request with this key is being carried out"})
        self._running.add(key or "")
        try:
            await self._pause(behaviour, subject, Hold.EFFECT, behaviour.before_s)
            if not behaviour.effect:
                return self._refuse(key, fingerprint, behaviour)
            if behaviour.is_late:
                self._under_way[subject] += 1
                self._late.add(asyncio.create_task(self._act_late(behaviour, key, fingerprint, work, subject)))
                return Reply(status=202, body={"status": "pending"})
            return Reply(status=200, body=self._act(key, fingerprint, work, subject))
        finally:
            if not behaviour.is_late:
                self._running.discard(key or "")

    def _refuse(self, key: str | None, fingerprint: str, behaviour: Behaviour) -> Reply:
        answer = {"error": "refused"}
        if key and self._honours_keys and behaviour.is_final:
            self._ledger.refuse(key=key, fingerprint=fingerprint, status=behaviour.status, answer=answer)
        return Reply(status=behaviour.status, body=answer)

    def _act(self, key: str | None, fingerprint: str, work: Work, subject: str) -> dict[str, Any]:
        answer = work(key, fingerprint)
        self._events.add("effect", subject=subject, effects=self._ledger.count(subject), key=key)
        return answer

    async def _act_late(
        self, behaviour: Behaviour, key: str | None, fingerprint: str, work: Work, subject: str
    ) -> None:
        await self._pause(behaviour, subject, Hold.LATE, behaviour.late_effect_s)
        self._act(key, fingerprint, work, subject)
        self._running.discard(key or "")
        self._over(subject)

    async def _pause(self, behaviour: Behaviour, subject: str, where: Hold, seconds: float) -> None:
        if behaviour.hold is where:
            await self._scripts.released(subject)
        if seconds:
            await asyncio.sleep(seconds)

    def _note(self, request: Request, subject: str) -> None:
        key = request.headers.get("idempotency-key")
        self._ledger.note_request(method=request.method, path=request.path, subject=subject, key=key, body=request.body)
        what = "received" if request.method == "POST" else "looked up"
        self._events.add(what, subject=subject, path=request.path, key=key)


def subject_of(order: str) -> str:
    """The name under which an order is scripted and booked: `ORD-` and its number."""
    order = order.strip()
    return order if order == "*" or not re.fullmatch(r"(?i)(ord-)?[0-9]+", order) else f"ORD-{order_number(order)}"


def _amount(body: dict[str, Any]) -> int:
    amount = body.get("paise")
    if isinstance(amount, bool) or not isinstance(amount, int | float) or amount < 1 or not float(amount).is_integer():
        raise BadRequestError("paise must be a whole number of at least 1")
    return int(amount)


def _text(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise BadRequestError(f"{name} must be a text")
    return value
