"""The parts of a call's `_meta` that are forwarded to its server.

Every server gets the protocol's keys. Other keys are dropped, except those that the policy names in
`forward_meta`: approvals cover these keys, people see them, the log records them, rules match them.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

LOG_LEVEL: Final = "io.modelcontextprotocol/logLevel"
_LOG_LEVELS: Final = frozenset(
    {"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
)
_TRACEPARENT: Final = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
_TRACESTATE: Final = re.compile(r"[!-~ \t]{1,512}")


def protocol_meta(meta: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the keys of `meta` that any server may get: trace context and the log level.

    Invalid values are dropped (W3C Trace Context; MCP, logging). `baggage` is dropped too, because
    a program may put any data into it.
    """
    values = meta or {}
    forwarded: dict[str, Any] = {}
    for key, form in (("traceparent", _TRACEPARENT), ("tracestate", _TRACESTATE)):
        value = values.get(key)
        if isinstance(value, str) and form.fullmatch(value):
            forwarded[key] = value
    level = values.get(LOG_LEVEL)
    if isinstance(level, str) and level in _LOG_LEVELS:
        forwarded[LOG_LEVEL] = level
    return forwarded


def protocol_params(meta: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return `{"_meta": …}` with the keys that any server may get; `{}` if there are none."""
    return sent_meta(meta, frozenset())


def forwarded_meta(meta: Mapping[str, Any] | None, names: frozenset[str]) -> dict[str, Any]:
    """Return the keys of `meta` that are in `names`, the policy's `forward_meta`."""
    if not meta or not names:
        return {}
    return {key: value for key, value in meta.items() if key in names}


def sent_meta(meta: Mapping[str, Any] | None, names: frozenset[str]) -> dict[str, Any]:
    """Return `{"_meta": …}` with all keys that go to a server; `{}` if there are none."""
    sent = {**forwarded_meta(meta, names), **protocol_meta(meta)}
    return {"_meta": sent} if sent else {}
