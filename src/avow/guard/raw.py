"""Results that are not read: what need not change goes out as the bytes that came.

In such a result the members that may be long are JSON as received (`msgspec.Raw`).
"""

from typing import Any, cast

import msgspec

from avow.errors import UsageError
from avow.guard.call import Answer
from avow.guard.shape import Shape, text_length
from avow.schema import parse_json, size


def is_plain(answer: Answer, shape: Shape, limit: int) -> bool:
    """Whether a result of raw members can go out as it is.

    It is short enough, and where its tool has promised a form it has exactly that. Raises
    `ValueError` for what cannot be read.
    """
    content, structured = answer.get("content"), answer.get("structuredContent")
    for member in (content, structured):
        if isinstance(member, msgspec.Raw) and len(member) <= limit:
            _check_keys(member)
    if content is not None and not (isinstance(content, msgspec.Raw) and is_short(content, limit)):
        return False
    if structured is None:
        return isinstance(content, msgspec.Raw)
    if shape.exact is None or not isinstance(structured, msgspec.Raw) or len(structured) > limit:
        return False
    return shape.exact.is_valid(msgspec.json.decode(structured))


def _check_keys(member: msgspec.Raw) -> None:
    """Raise `ValueError` for a key given twice: the client might read the other value."""
    try:
        parse_json(bytes(member).decode(errors="replace"))
    except UsageError as error:
        raise ValueError(error.what) from error


def is_brief(answer: Answer, limit: int) -> bool:
    """Return whether neither the structure nor the texts of a result are longer than `limit`."""
    content, structured = answer.get("content"), answer.get("structuredContent")
    if isinstance(structured, msgspec.Raw):
        is_structure_short = len(structured) <= limit
    else:
        is_structure_short = structured is None or size(structured) <= limit
    if not is_structure_short:
        return False
    if isinstance(content, msgspec.Raw):
        return is_short(content, limit)
    return sum(map(text_length, content or ())) <= limit


def is_short(content: msgspec.Raw, limit: int) -> bool:
    """Whether all texts together are short enough; as JSON they have more characters than here."""
    if len(content) <= limit:
        return True
    # What is escaped takes two bytes or more for each character, and begins with a backslash.
    if len(content) - bytes(content).count(b"\\") // 2 <= limit:
        return True
    blocks: Any = msgspec.json.decode(content)
    return isinstance(blocks, list) and sum(map(text_length, cast("list[Any]", blocks))) <= limit


def opened(answer: Answer) -> Answer:
    """The result with all its members read. Raises `ValueError` for what cannot be."""
    if not any(isinstance(one, msgspec.Raw) for one in answer.values()):
        return answer
    return {
        key: msgspec.json.decode(one) if isinstance(one, msgspec.Raw) else one
        for key, one in answer.items()
    }
