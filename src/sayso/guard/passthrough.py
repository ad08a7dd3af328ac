"""Results that pass through unread: a result that need not change goes out as the same bytes.

Its members that may be long are JSON as received (`msgspec.Raw`).
"""

from typing import Any, Final

import msgspec

from sayso.errors import UsageError
from sayso.guard.call import Answer
from sayso.guard.schemas import ToolSchemas, text_length
from sayso.schema import read_strictly, size


class _Texts(msgspec.Struct):
    text: str = ""


class _Block(_Texts):
    """The texts of a content block."""

    resource: _Texts | None = None


_blocks: Final = msgspec.json.Decoder(list[_Block])


def is_plain(answer: Answer, schemas: ToolSchemas, limit: int) -> bool:
    """Return whether a result of raw members can go out unchanged: short, and in its schema.

    Raises `ValueError` for an unreadable result.
    """
    content = answer.get("content")
    structured = answer.get("structuredContent")
    if isinstance(content, msgspec.Raw) and len(content) <= limit:
        _read(content)
    value: Any = None
    is_read = False
    if isinstance(structured, msgspec.Raw) and len(structured) <= limit:
        value = _read(structured)
        is_read = True
    if content is not None and not (isinstance(content, msgspec.Raw) and is_short(content, limit)):
        return False
    if structured is None:
        return isinstance(content, msgspec.Raw)
    return is_read and schemas.exact is not None and schemas.exact.is_valid(value)


def _read(member: msgspec.Raw) -> Any:
    """Read a member. Raises `ValueError` for a key given twice: clients might read either."""
    try:
        return read_strictly(member)
    except UsageError as error:
        raise ValueError(error.what) from error


def is_brief(answer: Answer, limit: int) -> bool:
    """Return whether the structure and the texts of a result each have at most `limit`."""
    content = answer.get("content")
    structured = answer.get("structuredContent")
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
    """Return whether all texts together have at most `limit` characters; their JSON has more."""
    if len(content) <= limit:
        return True
    # An escaped character begins with a backslash and takes two bytes or more.
    if len(content) - bytes(content).count(b"\\") // 2 <= limit:
        return True
    try:
        blocks = _blocks.decode(content)
    except msgspec.ValidationError:
        return False
    length = sum([len(block.text) for block in blocks])
    length += sum([len(block.resource.text) for block in blocks if block.resource is not None])
    return length <= limit


def opened(answer: Answer) -> Answer:
    """Return the result with all its members read. Raises `ValueError` for unreadable ones."""
    raw = {key: member for key, member in answer.items() if isinstance(member, msgspec.Raw)}
    if not raw:
        return answer
    return {**answer, **{key: msgspec.json.decode(member) for key, member in raw.items()}}
