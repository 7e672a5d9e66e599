"""The logging of the whole process, uvicorn's included: JSON lines on standard error, no access log."""

import logging.config
from typing import Any, Final

_SILENT: Final = logging.CRITICAL + 1


def configure_logging(level: str = "INFO") -> None:
    """Make it so, for this process; uvicorn is then to configure nothing (`log_config=None`). `level` in any case.

    There is no access log: its lines hold paths and query strings, and every call leaves an execution row.
    """
    logging.config.dictConfig(_config(level))


def _config(level: str) -> dict[str, Any]:
    quiet = {"handlers": [], "level": _SILENT, "propagate": False}
    through = {"handlers": [], "level": "NOTSET", "propagate": True}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": "gateway.adapters.logs.json_lines.JsonFormatter"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json", "stream": "ext://sys.stderr"}},
        "root": {"handlers": ["stderr"], "level": level.upper()},
        "loggers": {"uvicorn": through, "uvicorn.error": through, "uvicorn.access": quiet, "uvicorn.asgi": quiet},
    }
