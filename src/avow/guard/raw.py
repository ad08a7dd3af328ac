"""Results that are not read: what need not change goes out as the bytes that came.

In such a result the members that may be long are JSON as received (`msgspec.Raw`).
"""

from typing import Any, cast

import msgspec

from avow.guard.call import Answer
from avow.guard.shape import Shape


def is_plain(answer: Answer, shape: Shape, limit: int) -> bool:
    """Whether a result of raw members can go out as it is.

    It is short enough, and where its tool has promised a form it has exactly that. Raises
    `ValueError` for what cannot be read.
    """
    content, structured = answer.get("content"), answer.get("structuredContent")
    if structured is None:
        return isinstance(content, msgspec.Raw) and _is_short(content, limit)
    if shape.exact is None or not isinstance(structured, msgspec.Raw) or len(structured) > limit:
        return False
    return shape.exact.is_valid(msgspec.json.decode(structured))


def _is_short(content: msgspec.Raw, limit: int) -> bool:
    """Whether no text is too long; as JSON in a text, it has more characters than there."""
    if len(content) <= limit:
        return True
    # What is escaped takes two bytes or more for each character, and begins with a backslash.
    if len(content) - bytes(content).count(b"\\") // 2 <= limit:
        return True
    blocks: Any = msgspec.json.decode(content)
    return isinstance(blocks, list) and all(
        _length(one) <= limit for one in cast("list[Any]", blocks)
    )


def _length(block: object) -> int:
    text = cast("dict[str, Any]", block).get("text") if isinstance(block, dict) else None
    return len(text) if isinstance(text, str) else 0


def opened(answer: Answer) -> Answer:
    """The result with all its members read. Raises `ValueError` for what cannot be."""
    if not any(isinstance(one, msgspec.Raw) for one in answer.values()):
        return answer
    return {
        key: msgspec.json.decode(one) if isinstance(one, msgspec.Raw) else one
        for key, one in answer.items()
    }
