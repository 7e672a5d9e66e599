"""A provider on a real socket that keeps its contract, or breaks one part of it on purpose."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(slots=True, kw_only=True)
class Habits:
    """How it behaves. The defaults keep the contract of `MANIFEST`."""

    keeps_answers: bool = True
    same_answer: bool = True
    keeps_refusals: bool = True
    keeps_last: int = 100
    """After so many requests it has forgotten a key."""
    marks: bool = True
    mismatch: int = 422
    in_progress: int = 409
    waits: bool = False
    """Of two at once the second waits for the first's answer."""
    shows_after: int = 0
    """The list shows effects only from so many look-ups on."""
    lists: str = "whole"
    lists_double: bool = False
    status: int = 200
    repeated: int = 200
    hangs_up: bool = False
    result: dict[str, Any] = field(default_factory=lambda: {"state": "done"})


class Bank:
    """Its books, and what a test says to it. `POST /acts` acts, `GET /acts` lists."""

    def __init__(self, habits: Habits) -> None:
        self.habits = habits
        self.effects: list[dict[str, Any]] = []
        self.requests = 0
        self.looks = 0
        self.url = ""
        self._kept: dict[str, tuple[int, bytes, tuple[int, dict[str, Any]]]] = {}
        self._running: dict[str, threading.Event] = {}
        self._keys: list[str] = []
        self._lock = threading.Lock()
        self.met = threading.Event()
        """Set once a second request with a running key has been answered."""

    def act(self, key: str, body: bytes) -> tuple[int, dict[str, Any], bool]:
        """Status, body and whether it is a stored answer."""
        with self._lock:
            self.requests += 1
            number = self.requests
            self._keys += [] if key in self._keys else [key]
            kept = self._kept.get(key)
            forgotten = kept is not None and number - kept[0] > self.habits.keeps_last
            if self.habits.keeps_answers and kept is not None and not forgotten:
                if kept[1] != body:
                    return self.habits.mismatch, {"error": "other body"}, False
                status, said = kept[2]
                return status, (said if self.habits.same_answer else {**said, "at": number}), True
            running = self._running.get(key)
            if running is None:
                self._running[key] = threading.Event()
        if running is not None and self.habits.keeps_answers:
            if self.habits.waits:
                running.wait(20)
                return (*self._kept[key][2], True)
            self.met.set()
            return self.habits.in_progress, {"error": "running"}, False
        return self._carried_out(key, body, number)

    def _carried_out(self, key: str, body: bytes, number: int) -> tuple[int, dict[str, Any], bool]:
        asked = json.loads(body)
        # The second key comes twice at once: the first of its requests ends when the other has been answered.
        if self._keys.index(key) == 1 and self.habits.keeps_answers and not self.habits.waits:
            self.met.wait(20)
        with self._lock:
            refused = asked["n"] == 13
            if not refused:
                for _ in range(1 + self.habits.lists_double):
                    self.effects.append({"id": f"E{len(self.effects)}", "key": key, "n": asked["n"]})
            status = 402 if refused else self.habits.status if not self._kept else self.habits.repeated
            answer = (status, {"error": "no"} if refused else dict(self.habits.result))
            if not refused or self.habits.keeps_refusals:
                self._kept[key] = (number, body, answer)
            self._running.pop(key, threading.Event()).set()
        return (*answer, False)

    def listed(self) -> tuple[int, Any]:
        """What the list shows."""
        self.looks += 1
        shown = self.effects if self.looks > self.habits.shows_after else []
        match self.habits.lists:
            case "cut":
                return 200, {"items": shown, "whole": False}
            case "away":
                return 404, {"error": "none"}
            case "bare":
                return 200, {"items": [{"n": item["n"]} for item in shown], "whole": True}
            case "empty":
                return 200, {"items": [], "whole": True}
            case "always":
                return 200, {"items": [*shown, {"id": "E", "key": "", "n": 1}], "whole": True}
            case _:
                return 200, {"items": shown, "whole": True}


@contextmanager
def opened(habits: Habits) -> Iterator[Bank]:
    """A bank that listens."""
    bank = Bank(habits)

    class Counter(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(*bank.listed())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, said, stored = bank.act(self.headers.get("Idempotency-Key", ""), body)
            if habits.hangs_up:
                self.close_connection = True
                return
            self._answer(status, said, *([("Replayed", "yes")] if stored and habits.marks else []))

        def _answer(self, status: int, said: Any, *headers: tuple[str, str]) -> None:
            content = json.dumps(said).encode()
            self.send_response(status)
            for name, value in (*headers, ("Content-Length", str(len(content)))):
                self.send_header(name, value)
            self.end_headers()
            with suppress(ConnectionError):
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Counter)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    bank.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield bank
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


READ: dict[str, Any] = {
    "manifest": 1,
    "name": "list",
    "version": "1",
    "description": "List acts.",
    "owner": "bank",
    "effect": "read",
    "arguments": {"type": "object", "properties": {}},
    "permission": "bank:read",
    "backend": {"http": {"method": "GET", "url": "${BANK_URL}/acts"}},
}
MANIFEST: dict[str, Any] = {
    **READ,
    "name": "act",
    "description": "Act once.",
    "effect": "write",
    "arguments": {
        "type": "object",
        "required": ["order", "n"],
        "properties": {"order": {"type": "string", "x-normalise": ["trim"]}, "n": {"type": "integer", "minimum": 1}},
    },
    "result": {"type": "object", "required": ["state"], "properties": {"state": {"type": "string"}}},
    "permission": "bank:act",
    "identity": {"fields": ["order"]},
    "holds": {"order": "order"},
    "backend": {"http": {"method": "POST", "url": "${BANK_URL}/acts", "body": {"n": "{args.n}"}}},
    "downstream_key": {
        "in": "header",
        "name": "Idempotency-Key",
        "window": "30s",
        "caches": "all",
        "replay_marker": "Replayed: yes",
    },
    "reconcile": {
        "provider_max": "60s",
        "lookup": {
            "tool": "list",
            "arguments": {},
            "items": "data.items",
            "baseline": "item.id",
            "match": "item.key == key && !(item.id in baseline)",
            "complete_when": "data.whole",
        },
    },
}
