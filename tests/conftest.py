"""What every test in this process leaves as it was, and what none may see."""

import logging
import sys
from collections.abc import Iterator

import pytest

from gateway.stages.monitor.fields import OUR_LOGGERS, RECORD_ATTRIBUTE, LogField

_PRINTED = {*vars(logging.makeLogRecord({})), "message", "asctime", RECORD_ATTRIBUTE, *LogField}


@pytest.fixture(autouse=True)
def _switch_interval() -> Iterator[None]:
    """Opening a store shortens it for the whole process."""
    interval = sys.getswitchinterval()
    yield
    sys.setswitchinterval(interval)


class _Unprinted(logging.Handler):
    """Remembers what a line of our own would leave out."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        args = record.args if isinstance(record.args, tuple) else ()
        self.found += [f"{record.msg}: {arg!r}" for arg in args if not isinstance(arg, str | int | float)]
        self.found += [f"{record.msg}: {name}" for name in sorted({*vars(record)} - _PRINTED)]


@pytest.fixture(autouse=True)
def _every_log_line_is_whole() -> Iterator[None]:
    """A sentence of our own whose words the formatter leaves out, or a field that it does not know, is a defect."""
    handler = _Unprinted()
    logging.getLogger(OUR_LOGGERS).addHandler(handler)
    yield
    logging.getLogger(OUR_LOGGERS).removeHandler(handler)
    assert handler.found == []
