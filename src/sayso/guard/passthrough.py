"""Results that are not read: what need not change goes out as the bytes that came.

In such a result the members that may be long are JSON as received (`msgspec.Raw`).
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
    """A content block, only as far as it holds text."""

    resource: _Texts | None = None


_blocks: Final = msgspec.json.Decoder(list[_Block])


def is_plain(answer: Answer, schemas: ToolSchemas, limit: int) -> bool:
    """Return whether a result of raw members can go out as it is.

    It is short enough, and where its tool has promised a form it has exactly that. Raises
    `ValueError` for what cannot be read.
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
    """Return whether neither the structure nor the texts of a result are longer than `limit`."""
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
    """Return whether all texts together are short enough; as JSON they have more characters."""
    if len(content) <= limit:
        return True
    # What is escaped takes two bytes or more for each character, and begins with a backslash.
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
    """Return the result with all its members read. Raises `ValueError` for what cannot be."""
    raw = {key: member for key, member in answer.items() if isinstance(member, msgspec.Raw)}
    if not raw:
        return answer
    return {**answer, **{key: msgspec.json.decode(member) for key, member in raw.items()}}
