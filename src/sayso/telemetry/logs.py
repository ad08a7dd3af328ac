"""Lines of the log: one for each event, for a program or a person, with nothing in it that harms.

A message may quote a server or a caller. What looks like a secret is masked, and what could steer a
terminal or begin a line of its own is spelt out.
"""

import json
import logging
import re
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

from typing_extensions import override

from sayso.schema import plain, redact, redact_start
from sayso.telemetry.context import CALL

_LONGEST: Final = 16_384
"""Characters of one message; a server may write a line without an end."""
_MORE: Final = ("incident", "server", "error", "head", "link")
"""What a line may hold in addition to its message, if the caller gives it as `extra`."""
_TRACEPARENT: Final = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-")


class LogFormat(StrEnum):
    """How lines of the log are written."""

    TEXT = "text"
    JSON = "json"


class LogLevel(StrEnum):
    """The least that is written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class TextFormatter(logging.Formatter):
    """Lines for a person. A stack trace keeps its lines, but ends in what others may have said."""

    def __init__(self) -> None:
        super().__init__("sayso: %(message)s")

    @override
    def formatMessage(self, record: logging.LogRecord) -> str:
        return plain(redact(super().formatMessage(record)))

    @override
    def formatException(self, ei: Any) -> str:
        told = redact_start(super().formatException(ei), _LONGEST)
        return "\n".join(map(plain, told.split("\n")))


class JsonFormatter(logging.Formatter):
    """Lines for a program: each one object, in ASCII."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": redact_start(_message(record), _LONGEST),
            **_call(),
        }
        said = ((name, getattr(record, name, None)) for name in _MORE)
        told |= {name: redact(value) for name, value in said if value is not None}
        if record.exc_info and record.exc_info[0] is not None:
            told["exception"] = redact_start(self.formatException(record.exc_info), _LONGEST)
        return json.dumps(told, default=repr)


def set_up_logs(form: LogFormat = LogFormat.TEXT, level: LogLevel | None = None) -> None:
    """Write the log to standard error, from this level on.

    For a person the default is what goes wrong; a program is told of what goes on too.
    """
    is_json = form is LogFormat.JSON
    formatter: logging.Formatter = TextFormatter()
    least = LogLevel.WARNING
    if is_json:
        formatter = JsonFormatter()
        least = LogLevel.INFO
    handler = logging.StreamHandler()
    handler.setFormatter(formatter)
    logging.basicConfig(level=(level or least).upper(), handlers=[handler], force=True)
    logging.captureWarnings(is_json)
    # The SDK logs with stack traces what sayso tells in words.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)


def is_structured() -> bool:
    """Return whether the log is for a program."""
    handlers = logging.getLogger().handlers
    return any(isinstance(handler.formatter, JsonFormatter) for handler in handlers)


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError):
        # Its arguments do not fit its format; the line must come all the same, and be JSON.
        return str(record.msg)


def _call() -> dict[str, str]:
    call = CALL.get()
    if call is None:
        return {}
    found = {"call": call.id}
    parent = (call.meta or {}).get("traceparent")
    if isinstance(parent, str) and (match := _TRACEPARENT.match(parent)):
        found["trace"] = match[1]
    return found
