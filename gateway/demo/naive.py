"""The client of the incident: textbook retry logic, correct for a read, wrong for a refund.

Nothing in it is a straw man: a timeout, a retry on what looks transient, a bound on the retries.
`python -m gateway.demo.naive URL` makes one refund with it.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

TRANSIENT = frozenset({429, 500, 502, 503, 504})

LONGEST_BODY = 37

Say = Callable[[str], None]
"""Takes one line of the client's log, without its time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the caller was told in the end. `status` None: nothing but a failure."""

    status: int | None
    body: Any
    attempts: int

    @property
    def ok(self) -> bool:
        """Whether the caller believes that it was done."""
        return self.status is not None and self.status < 300


def refund(
    url: str,
    body: dict[str, Any],
    *,
    timeout_s: float = 5.0,
    retries: int = 3,
    pause_s: float = 0.002,
    headers: dict[str, str] | None = None,
    say: Say = lambda _line: None,
) -> Told:
    """POST until there is an answer; every failure that looks transient is tried again, `retries` times.

    `timeout_s` bounds each wait of one attempt, `pause_s` lies between two attempts.
    """
    with httpx.Client(timeout=timeout_s, headers=headers, trust_env=False) as client:
        say(f"POST {httpx.URL(url).path}  {_short(body)}")
        for attempt in range(1 + retries):
            if attempt:
                time.sleep(pause_s)
                say(f"retry {attempt}/{retries}")
            try:
                answer = client.post(url, json=body)
            except httpx.TimeoutException:
                say(f"TIMEOUT after {timeout_s * 1000:.0f}ms - no response")
            except httpx.TransportError as problem:
                say(f"FAILED - {type(problem).__name__}")
            else:
                say(f"{answer.status_code} {answer.reason_phrase}  {_short(_json(answer))}".rstrip())
                if answer.status_code not in TRANSIENT:
                    return Told(status=answer.status_code, body=_json(answer), attempts=attempt + 1)
    return Told(status=None, body=None, attempts=1 + retries)


def _json(answer: httpx.Response) -> Any:
    try:
        return answer.json()
    except ValueError:
        return None


def _short(value: Any) -> str:
    """The beginning of a JSON value without its quotes, as a log has it."""
    text = json.dumps(value, ensure_ascii=False).replace('"', "") if isinstance(value, dict) else ""
    return text if len(text) <= LONGEST_BODY else f"{text[:LONGEST_BODY]}..."


def main(arguments: list[str] | None = None) -> None:
    """The command line: one refund, and what came of it as one line of JSON."""
    parser = argparse.ArgumentParser(prog="python -m gateway.demo.naive", description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--body", type=json.loads, default={"payment": "pay_4471", "paise": 425_000})
    parser.add_argument("--timeout-s", type=float, default=5.0)
    parser.add_argument("--retries", type=int, default=3)
    options = parser.parse_args(arguments)
    told = refund(options.url, options.body, timeout_s=options.timeout_s, retries=options.retries)
    print(json.dumps({"ok": told.ok, "status": told.status, "attempts": told.attempts, "body": told.body}))


if __name__ == "__main__":
    main()
