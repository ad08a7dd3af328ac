"""The outcome of a call, read from its result. Many servers report a failure without `isError`."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from sayso.connect import Fault, RpcError
from sayso.verify.call import Outcome

_MAX_TEXT: Final = 2000
_FAILED: Final = re.compile(
    r"[^\w{\[]*(?:an? )?(?:unexpected |internal |validation |unknown |tool )*"
    r"(?:error\b|exception\b|failed\b|failure\b|traceback\b|fatal:|could ?n[o’']t\b|cannot\b|"
    r"can[’']t\b|unable to\b|access denied|permission denied|not found\b|no such\b|invalid\b|"
    r"missing required|does not exist|unauthori[sz]ed|forbidden)",
    re.IGNORECASE,
)
"""The beginning of a text that reports a failure."""
_REFUSED: Final = re.compile(
    r"\b(?:does not exist|do(?:es)?n[o’']t exist|not found|no such|out of range|must provide|"
    r"(?:is|are) required|(?:is|are) invalid|(?:is|are) not valid|not set|not allowed|"
    r"not supported|not initiali[sz]ed|not available|not configured|already exists|failed to|"
    r"cannot|could not|unable to|no \w+ (?:loaded|selected|open|set)|permission denied)\b",
    re.IGNORECASE,
)
"""Phrases of a short sentence that reports a failure."""
_MAX_KEYS: Final = 4
"""An object with more keys than this counts as a report that contains errors, not as a failure."""
_MAX_SENTENCE: Final = 240
_BAD_WORDS: Final = frozenset({"error", "failed", "failure", "fail"})


def outcome_of(result: Mapping[str, Any]) -> Outcome:
    """Return the outcome that a result reports.

    A text that begins like an error, and JSON such as `{"success": false}`, count as a failure. A
    call that may have failed must not support a hint.

    >>> outcome_of({"content": [{"type": "text", "text": "Error: no such file"}]})
    <Outcome.TOOL_ERROR: 'tool_error'>
    """
    if result.get("isError") is True or result.get("resultType", "complete") != "complete":
        return Outcome.TOOL_ERROR
    text = text_of(result)
    if (
        _FAILED.match(text)
        or _is_refusal(text)
        or _reports_failure(result.get("structuredContent"))
        or _reports_failure(_json(text))
    ):
        return Outcome.TOOL_ERROR
    return Outcome.SUCCESS


def outcome_of_error(error: RpcError) -> Outcome:
    """Return the outcome of a call without a result."""
    if error.fault is Fault.TIMED_OUT:
        return Outcome.TIMEOUT
    return Outcome.PROTOCOL_ERROR if error.fault is None else Outcome.DIED


def _is_refusal(text: str) -> bool:
    sentence = text.strip()
    is_one_sentence = len(sentence) <= _MAX_SENTENCE and "\n" not in sentence
    return (
        is_one_sentence and sentence[:1] not in ("{", "[") and _REFUSED.search(sentence) is not None
    )


def text_of(result: Mapping[str, Any]) -> str:
    """Return the first 2000 characters of a result's text. The result may have any shape."""
    blocks = result.get("content")
    if not isinstance(blocks, Sequence) or isinstance(blocks, str):
        return ""
    listed = cast("Sequence[object]", blocks)
    texts = (
        cast("Mapping[str, Any]", block).get("text")
        for block in listed
        if isinstance(block, Mapping)
    )
    return "\n".join(text for text in texts if isinstance(text, str))[:_MAX_TEXT]


def _json(text: str) -> Any:
    if not text.lstrip().startswith("{"):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _reports_failure(value: Any) -> bool:
    """Return whether an object reports a failure: `{"error": …}`, `{"success": false}`."""
    if not isinstance(value, Mapping):
        return False
    table = cast("Mapping[str, Any]", value)
    if set(table) == {"result"}:  # the SDK's wrapper around other values
        return isinstance(table["result"], str) and bool(_FAILED.match(table["result"]))
    if table.get("success") is False or table.get("ok") is False:
        return True
    status = table.get("status")
    if isinstance(status, str) and status.lower() in _BAD_WORDS:
        return True
    if len(table) > _MAX_KEYS:
        return False
    message = table.get("message")
    is_refused = isinstance(message, str) and table.get("success") is not True
    return bool(table.get("error")) or (is_refused and _is_refusal(str(message)))
