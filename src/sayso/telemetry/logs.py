"""The log: one line per event, as text for a person or as JSON for a program.

A message may quote a server or a caller. So possible secrets are masked, and line breaks and
terminal control characters are escaped.
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

_MAX_CHARACTERS: Final = 16_384
"""The maximum characters of one message, because a server may write an endless line."""
_EXTRA: Final = ("incident", "server", "error", "head", "link")
"""The keys of logging's `extra` that a line may contain."""
_TRACEPARENT: Final = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-")


class LogFormat(StrEnum):
    """The format of the log."""

    TEXT = "text"
    JSON = "json"


class LogLevel(StrEnum):
    """The least severe messages of the log."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class TextFormatter(logging.Formatter):
    """Lines for a person; a stack trace keeps its line breaks, and its text is escaped."""

    def __init__(self) -> None:
        super().__init__("sayso: %(message)s")

    @override
    def formatMessage(self, record: logging.LogRecord) -> str:
        return plain(redact(super().formatMessage(record)))

    @override
    def formatException(self, ei: Any) -> str:
        trace = redact_start(super().formatException(ei), _MAX_CHARACTERS)
        return "\n".join(map(plain, trace.split("\n")))


class JsonFormatter(logging.Formatter):
    """Lines for a program: one JSON object each, in ASCII."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": redact_start(_message(record), _MAX_CHARACTERS),
            **_call(),
        }
        extra = ((name, getattr(record, name, None)) for name in _EXTRA)
        fields |= {name: redact(value) for name, value in extra if value is not None}
        if record.exc_info and record.exc_info[0] is not None:
            fields["exception"] = redact_start(
                self.formatException(record.exc_info), _MAX_CHARACTERS
            )
        return json.dumps(fields, default=repr)


def set_up_logs(form: LogFormat = LogFormat.TEXT, level: LogLevel | None = None) -> None:
    """Write the log to standard error. The default level is warning for text and info for JSON."""
    is_json = form is LogFormat.JSON
    default = LogLevel.INFO if is_json else LogLevel.WARNING
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if is_json else TextFormatter())
    logging.basicConfig(level=(level or default).upper(), handlers=[handler], force=True)
    logging.captureWarnings(is_json)
    # The SDK logs stack traces of errors that sayso reports itself.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)


def is_structured() -> bool:
    """Return whether the log has the JSON format."""
    handlers = logging.getLogger().handlers
    return any(isinstance(handler.formatter, JsonFormatter) for handler in handlers)


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError):
        # The arguments do not match the message's format; log the message without them.
        return str(record.msg)


def _call() -> dict[str, str]:
    call = CALL.get()
    if call is None:
        return {}
    fields = {"call": call.id}
    parent = (call.meta or {}).get("traceparent")
    if isinstance(parent, str) and (match := _TRACEPARENT.match(parent)):
        fields["trace"] = match[1]
    return fields
