"""Results that pass through unread: a result that needs no change is sent as the received bytes.

In such a result, members that may be long are raw JSON (`msgspec.Raw`).
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
    """Return whether a result of raw members is short and fits its schema, so needs no change.

    Raises `ValueError` for a result that is not valid JSON.
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
    """Parse a member. Raises `ValueError` for a repeated key, which clients read differently."""
    try:
        return read_strictly(member)
    except UsageError as error:
        raise ValueError(error.what) from error


def is_brief(answer: Answer, limit: int) -> bool:
    """Return whether `structuredContent` and all texts have at most `limit` characters each."""
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
    """Return whether all texts of `content` together have at most `limit` characters."""
    if len(content) <= limit:
        return True
    # An upper bound without parsing: an escape is at least two bytes for one character.
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
    """Return the result with all raw members parsed. Raises `ValueError` for invalid JSON."""
    raw = {key: member for key, member in answer.items() if isinstance(member, msgspec.Raw)}
    if not raw:
        return answer
    return {**answer, **{key: msgspec.json.decode(member) for key, member in raw.items()}}
