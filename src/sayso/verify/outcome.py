"""How a call ended, told from its result: `isError` alone does not say that it went well."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from sayso.connect import Fault, RpcError
from sayso.verify.call import Outcome

_MOST_LETTERS: Final = 2000
_FAILED: Final = re.compile(
    r"[^\w{\[]*(?:an? )?(?:unexpected |internal |validation |unknown |tool )*"
    r"(?:error\b|exception\b|failed\b|failure\b|traceback\b|fatal:|could ?n[o’']t\b|cannot\b|"
    r"can[’']t\b|unable to\b|access denied|permission denied|not found\b|no such\b|invalid\b|"
    r"missing required|does not exist|unauthori[sz]ed|forbidden)",
    re.IGNORECASE,
)
"""How text begins that tells of a failure, in servers that set no `isError`."""
_REFUSED: Final = re.compile(
    r"\b(?:does not exist|do(?:es)?n[o’']t exist|not found|no such|out of range|must provide|"
    r"(?:is|are) required|(?:is|are) invalid|(?:is|are) not valid|not set|not allowed|"
    r"not supported|not initiali[sz]ed|not available|not configured|already exists|failed to|"
    r"cannot|could not|unable to|no \w+ (?:loaded|selected|open|set)|permission denied)\b",
    re.IGNORECASE,
)
"""What one short sentence says that tells of a failure, wherever it stands."""
_FEW: Final = 4
"""A report that has errors in it says more than that."""
_SENTENCE: Final = 240
_BAD_WORDS: Final = frozenset({"error", "failed", "failure", "fail"})


def outcome_of(result: Mapping[str, Any]) -> Outcome:
    """Whether a result says that the call went well.

    Text that begins as an error does, or JSON that says so of itself, counts as one: a call that
    may have failed supports nothing.

    >>> outcome_of({"content": [{"type": "text", "text": "Error: no such file"}]})
    <Outcome.TOOL_ERROR: 'tool_error'>
    """
    if result.get("isError") is True or result.get("resultType", "complete") != "complete":
        return Outcome.TOOL_ERROR
    text = text_of(result)
    if (
        _FAILED.match(text)
        or _is_refusal(text)
        or _says_so(result.get("structuredContent"))
        or _says_so(_json(text))
    ):
        return Outcome.TOOL_ERROR
    return Outcome.SUCCESS


def outcome_of_error(error: RpcError) -> Outcome:
    """What it means that there is no result."""
    if error.fault is Fault.TIMED_OUT:
        return Outcome.TIMEOUT
    return Outcome.PROTOCOL_ERROR if error.fault is None else Outcome.DIED


def _is_refusal(text: str) -> bool:
    sentence = text.strip()
    is_one = len(sentence) <= _SENTENCE and "\n" not in sentence
    return is_one and sentence[:1] not in ("{", "[") and _REFUSED.search(sentence) is not None


def text_of(result: Mapping[str, Any]) -> str:
    """What the text blocks of a result say, up to 2000 letters; it may be of any shape."""
    blocks = result.get("content")
    if not isinstance(blocks, Sequence) or isinstance(blocks, str):
        return ""
    listed = cast("Sequence[object]", blocks)
    texts = (
        cast("Mapping[str, Any]", block).get("text")
        for block in listed
        if isinstance(block, Mapping)
    )
    return "\n".join(text for text in texts if isinstance(text, str))[:_MOST_LETTERS]


def _json(text: str) -> Any:
    if not text.lstrip().startswith("{"):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _says_so(value: Any) -> bool:
    """Whether an object calls itself a failure: `{"error": …}`, `{"success": false}`."""
    if not isinstance(value, Mapping):
        return False
    told = cast("Mapping[str, Any]", value)
    if set(told) == {"result"}:  # how the SDK wraps what is no object
        return isinstance(told["result"], str) and bool(_FAILED.match(told["result"]))
    if told.get("success") is False or told.get("ok") is False:
        return True
    status = told.get("status")
    if isinstance(status, str) and status.lower() in _BAD_WORDS:
        return True
    if len(told) > _FEW:
        return False
    message = told.get("message")
    is_refused = isinstance(message, str) and told.get("success") is not True
    return bool(told.get("error")) or (is_refused and _is_refusal(str(message)))
