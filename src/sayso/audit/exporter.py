"""Export of the log as JSON Lines, CSV, and OCSF for security tools."""

import csv
import io
import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from sayso.audit.record import merged
from sayso.store import RecordRow
from sayso.version import __version__

_COLUMNS: Final = (
    "seq", "at", "event", "call", "subject", "client", "server", "tool", "level", "decision",
    "rule", "approval", "outcome", "severity", "milliseconds", "arguments", "arguments_digest",
    "result_digest", "writer", "index", "mac",
)  # fmt: skip
_FORMULA: Final = frozenset("=+-@\u2212")
_CONTROLS: Final = frozenset("\t\r\n\v\f\0")
_INVISIBLE: Final = " \u00a0\u200b\u200c\u200d\u2060\ufeff\u200e\u200f"


def export(rows: Iterable[RecordRow], form: str) -> Iterator[str]:
    """Yield the text of all rows in a format; `form` is a key of `FORMATS`."""
    return FORMATS[form](rows)


def to_dict(row: RecordRow) -> dict[str, Any]:
    """Return a row as one flat object, with its body, its payload and its place in the chain."""
    members: dict[str, Any] = json.loads(merged(row).body)
    members |= {"seq": row.seq, "at": row.at, "event": row.event, "call": row.call}
    if row.writer:
        members |= {"writer": row.writer, "index": row.index, "previous": row.previous}
        members |= {"key": row.key, "payload_digest": row.digest, "mac": row.mac}
    return members


def _json_lines(rows: Iterable[RecordRow]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(to_dict(row)) + "\n"


def _csv(rows: Iterable[RecordRow]) -> Iterator[str]:
    yield _line(_COLUMNS)
    for row in rows:
        body = to_dict(row)
        yield _line(_cell(body.get(name)) for name in _COLUMNS)


def _line(cells: Iterable[Any]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerow(cells)  # RFC 4180
    # A lone surrogate cannot be encoded in UTF-8.
    return out.getvalue().encode(errors="replace").decode()


def _cell(value: Any) -> Any:
    """Return a cell, escaped if a spreadsheet could read it as a formula."""
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and _is_formula(value):
        return f"'{value}"
    return value


def _is_formula(text: str) -> bool:
    """Return whether a spreadsheet may read a text as a formula (full width and blanks too)."""
    if text[:1] in _CONTROLS:
        return True
    shown = text.lstrip(_INVISIBLE).lstrip()
    return unicodedata.normalize("NFKC", shown[:1]) in _FORMULA


_SEVERITIES: Final = {"info": 1, "notice": 2, "warning": 3, "error": 4, "critical": 5}
_ACTIVITIES: Final = {"read": 2, "write": 3, "destructive": 4}
_API_ACTIVITY: Final = 6003
_OTHER: Final = 99
_STATUSES: Final = {None: 0, "outcome_unknown": 0, "waiting": 0, "ok": 1}
_FAILURE: Final = 2


def _ocsf(rows: Iterable[RecordRow]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(_event(to_dict(row))) + "\n"


def _event(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record as OCSF 1.5 *API Activity*; the tool's level gives read, update or delete."""
    activity = _ACTIVITIES.get(body.get("level", ""), _OTHER)
    return {
        "metadata": {
            "version": "1.5.0",
            "product": {"name": "sayso", "vendor_name": "sayso", "version": __version__},
            "uid": str(body["seq"]),
            "correlation_uid": body["call"],
        },
        "category_uid": _API_ACTIVITY // 1000,
        "class_uid": _API_ACTIVITY,
        "activity_id": activity,
        "type_uid": _API_ACTIVITY * 100 + activity,
        "time": round(body["at"] * 1000),
        "severity_id": _SEVERITIES.get(body.get("severity", "info"), 1),
        "status_id": _STATUSES.get(body.get("outcome"), _FAILURE),
        "status_detail": body.get("outcome", body["event"]),
        "actor": {"user": {"uid": body.get("subject", "sayso")}},
        "src_endpoint": {"name": body.get("client", "sayso")},
        "api": {
            "operation": body.get("tool") or body.get("name") or body["event"],
            "service": {"name": body.get("server", "sayso")},
        },
        "unmapped": dict(body),
    }


FORMATS: Final[Mapping[str, Callable[[Iterable[RecordRow]], Iterator[str]]]] = {
    "jsonl": _json_lines,
    "csv": _csv,
    "ocsf": _ocsf,
}
