import json
import logging
from typing import Any

import pytest

from gateway.adapters.logs.json_lines import MAX_FRAMES, MAX_SENTENCE, MAX_TEXT, JsonFormatter
from gateway.stages.monitor.fields import RECORD_ATTRIBUTE, LogField

SECRET = "canary-5f3759df"


def _line(
    message: object,
    *args: object,
    logger: str = "oncegate.calls",
    extra: Any = None,
    error: BaseException | None = None,
) -> dict[str, Any]:
    info = None if error is None else (type(error), error, error.__traceback__)
    record = logging.LogRecord(logger, logging.WARNING, "f.py", 1, message, args, info)
    record.created = 1_790_000_000.25
    vars(record).update(extra or {})
    text = JsonFormatter().format(record)
    assert "\n" not in text
    line: dict[str, Any] = json.loads(text)
    return line


def test_a_line_is_one_json_object() -> None:
    """Time in UTC with milliseconds, level, logger, sentence and the fields."""
    line = _line("call ended", extra={RECORD_ATTRIBUTE: {LogField.TOOL: "issue_refund", LogField.ATTEMPTS: 2}})

    assert line == {
        "time": "2026-09-21T14:13:20.250Z",
        "level": "warning",
        "logger": "oncegate.calls",
        "message": "call ended",
        "tool": "issue_refund",
        "attempts": 2,
    }


def test_only_allowed_fields_appear() -> None:
    """Fields that are not on the list, values that are no plain values and other attributes are left out."""
    fields = {"arguments": SECRET, LogField.TOOL: {"a": SECRET}, LogField.CODE: None, "trace_id": "t"}

    line = _line("x", extra={RECORD_ATTRIBUTE: fields, "url": SECRET, "taskName": SECRET})

    assert set(line) == {"time", "level", "logger", "message", "trace_id"}


def test_fields_that_are_no_mapping_are_left_out() -> None:
    """Another library may use the same attribute for something else."""
    assert set(_line("x", extra={RECORD_ATTRIBUTE: SECRET})) == {"time", "level", "logger", "message"}


def test_text_is_cut() -> None:
    """A field and a sentence have a bounded length."""
    line = _line("m" * 5000, extra={RECORD_ATTRIBUTE: {LogField.TOOL: "t" * 1000}})

    assert (len(line["message"]), len(line["tool"])) == (MAX_SENTENCE, MAX_TEXT)


@pytest.mark.parametrize(
    ("message", "args", "shown"),
    [
        ("Started server process [%d]", (42,), "Started server process [42]"),
        ("GET %s took %.1f s", (f"/?key={SECRET}", 0.25), "GET … took 0.2 s"),
        ("%r failed", (ValueError(SECRET),), "… failed"),
        ("%(url)s", ({"url": SECRET},), "%(url)s"),
        ("%d", (SECRET,), "%d"),
        ("Uvicorn running on %s://%s:%d (Press CTRL+C to quit)", ("http", "127.0.0.1", 8080),
         "Uvicorn running on http://127.0.0.1:8080 (Press CTRL+C to quit)"),
        (f"Task exception was never retrieved\nfuture: <Task exception=ValueError('{SECRET}')>", (),
         "Task exception was never retrieved"),
    ],
)  # fmt: skip
def test_words_in_a_message_are_hidden(message: str, args: tuple[object, ...], shown: str) -> None:
    """Numbers are shown; words only in sentences whose words are the operator's own."""
    assert _line(message, *args, logger="a.library")["message"] == shown


def test_our_own_sentences_may_have_words() -> None:
    """A path or a complaint about a manifest is the operator's; an exception is still hidden."""
    assert _line("manifests not reloaded: %s", "refund.yaml:3: no such effect")["message"].endswith("no such effect")
    assert _line("failed: %s", ValueError(SECRET), logger="oncegate")["message"] == "failed: …"
    assert _line("of %s", "another", logger="oncegatekeeper")["message"] == "of …"


def test_our_own_records_may_carry_fields_by_name() -> None:
    """`extra={"request_id": …}` is enough for us; for a library's record the name means nothing."""
    assert _line("failed", extra={"request_id": "req_1"})["request_id"] == "req_1"
    assert "code" not in _line("failed", extra={"code": SECRET}, logger="a.library")


def test_an_exception_is_its_class_and_its_places() -> None:
    """Never its text, however deep it was raised."""

    def deep(n: int) -> None:
        if n == 0:
            raise ValueError(SECRET)
        deep(n - 1)

    with pytest.raises(ValueError, match=SECRET) as raised:
        deep(50)
    line = _line("failed", error=raised.value)

    assert line["exception"] == "ValueError"
    assert len(line["stack"]) == MAX_FRAMES
    assert line["stack"][-1].startswith("adapters/logs/test_json_lines.py:")
    assert SECRET not in json.dumps(line)
