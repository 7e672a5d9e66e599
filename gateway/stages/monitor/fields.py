"""What a log line may hold besides its time, level and sentence. Everything else is left out by the formatter."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

RECORD_ATTRIBUTE: Final = "oncegate"
"""The attribute of a `logging.LogRecord` that holds the fields (`extra={"oncegate": {…}}`)."""

OUR_LOGGERS: Final = "oncegate"
"""The logger above all of ours. Their records may also carry a field as an attribute of its own name."""


class LogField(StrEnum):
    """The allow-list. No field stands for an argument, a result, a key, a credential, a URL or an exception's text."""

    TRACE_ID = "trace_id"
    SPAN_ID = "span_id"
    REQUEST_ID = "request_id"
    OPERATION_ID = "operation_id"
    TOOL = "tool"
    OUTCOME = "outcome"
    CODE = "code"
    ATTEMPTS = "attempts"
    ELAPSED_MS = "elapsed_ms"
    SCOPE = "scope"
    WAS = "was"
    NOW = "now"
    METHOD = "method"
    RESULT = "result"
    KIND = "kind"
    COUNT = "count"
    NOTICE_S = "notice_s"
    GRACE_S = "grace_s"
    EXCEPTION = "exception"
    """The name of an exception's class."""


LogValue = str | int | float | bool | None
LogFields = Mapping[LogField, LogValue]
