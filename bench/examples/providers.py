"""A server that speaks OpenAI's Chat Completions and Anthropic's Messages, and says what the script says."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from bench.examples.script import Asks, Says, next_move


def chat_completion(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of `POST /v1/chat/completions`."""
    results = [message["content"] for message in asked["messages"] if message["role"] == "tool"]
    move = _move(results, {tool["function"]["name"] for tool in asked["tools"]})
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if isinstance(move, Asks):
        function = {"name": move.tool, "arguments": move.json}
        message["tool_calls"] = [{"id": move.id, "type": "function", "function": function}]
    else:
        message["content"] = move.text
    finish = "tool_calls" if isinstance(move, Asks) else "stop"
    choice = {"index": 0, "finish_reason": finish, "message": message}
    return {"id": "c-1", "object": "chat.completion", "created": 0, "model": asked["model"], "choices": [choice]}


def message(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of `POST /v1/messages`."""
    blocks = [
        block
        for message in asked["messages"]
        for block in ([] if isinstance(message["content"], str) else message["content"])
    ]
    results = [block["content"] for block in blocks if block["type"] == "tool_result"]
    move = _move(results, {tool["name"] for tool in asked["tools"]})
    block: dict[str, Any]
    if isinstance(move, Asks):
        block = {"type": "tool_use", "id": move.id, "name": move.tool, "input": move.arguments}
    else:
        block = {"type": "text", "text": move.text}
    return {
        "id": "m-1",
        "type": "message",
        "role": "assistant",
        "model": asked["model"],
        "content": [block],
        "stop_reason": "tool_use" if isinstance(move, Asks) else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _move(results: list[str], tools: set[str]) -> Asks | Says:
    move = next_move(results)
    if isinstance(move, Asks) and move.tool not in tools:
        return Says(f"I was not offered {move.tool}.")
    return move


_PATHS = {"/v1/chat/completions": chat_completion, "/v1/messages": message}


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        """Answer, whatever the credential."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(_PATHS[self.path.partition("?")[0]](asked)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing: a table is printed here."""


@contextmanager
def providers() -> Iterator[str]:
    """The server's address, while the block runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
