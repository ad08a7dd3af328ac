"""The extras of a call, besides its arguments: which are sent, and which are bound.

Only the protocol's own keys of `_meta` go to every server. Any other key is dropped, unless the
policy names it in `forward_meta`: then it is bound to the approval, shown, recorded and open to
rules.
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

    A value in another form than its specification's is dropped (W3C Trace Context; MCP, logging).
    `baggage` is not among them: it carries whatever a program puts there.
    """
    given = meta or {}
    kept: dict[str, Any] = {}
    for key, form in (("traceparent", _TRACEPARENT), ("tracestate", _TRACESTATE)):
        value = given.get(key)
        if isinstance(value, str) and form.fullmatch(value):
            kept[key] = value
    level = given.get(LOG_LEVEL)
    if isinstance(level, str) and level in _LOG_LEVELS:
        kept[LOG_LEVEL] = level
    return kept


def protocol_params(meta: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what any server may get of `meta`, as a member of the parameters."""
    return _member(protocol_meta(meta))


def forwarded_meta(meta: Mapping[str, Any] | None, names: frozenset[str]) -> dict[str, Any]:
    """Return the keys of `meta` that a policy forwards."""
    if not meta or not names:
        return {}
    return {key: value for key, value in meta.items() if key in names}


def sent_meta(meta: Mapping[str, Any] | None, names: frozenset[str]) -> dict[str, Any]:
    """Return all of `meta` that goes to a server, as a member of the parameters."""
    return _member({**forwarded_meta(meta, names), **protocol_meta(meta)})


def _member(kept: dict[str, Any]) -> dict[str, Any]:
    return {} if not kept else {"_meta": kept}
