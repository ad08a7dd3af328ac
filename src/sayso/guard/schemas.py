"""Compiled schemas of a tool, and the shaping of results by them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, TypeVar, cast

from sayso.catalog import Tool
from sayso.errors import UsageError
from sayso.guard.call import Answer, Resume, tool_error
from sayso.guard.completeness import CompletenessError
from sayso.guard.truncation import with_continuation
from sayso.schema import (
    MARKER,
    Checker,
    Cut,
    Problem,
    Stripper,
    clip,
    exact,
    level,
    read_json,
    schema_cost,
    size,
    truncate,
    write_json,
)
from sayso.workers import MAX_LOCAL_COST, BoundedChecker

C = TypeVar("C")

MAX_WHOLE_CHARACTERS: Final = 1_000_000
"""The largest size of a result that goes out whole because it cannot be cut."""

MIN_BLOCK_CHARACTERS: Final = 100
"""A cut text keeps at least this many characters; if not all texts fit, the last are left out."""

_MAX_CACHED_TOOLS: Final = 10_000
_MAX_TRIES: Final = 7
_BLANK: Final = " \t\r\n\ufeff"
"""The characters that may precede JSON (RFC 8259, sections 2 and 8.1)."""


@dataclass(frozen=True, slots=True)
class ToolSchemas:
    """The compiled schemas of one tool; a schema that is missing or invalid is `None`.

    A value that fits `exact` needs no stripping. `cost` is the work of the result's schema for each
    part of a value. If the cost is unlimited or too high, `is_local` is false: only a worker
    process compiles and applies the schema.
    """

    arguments: BoundedChecker | None
    result: Checker | None
    stripper: Stripper | None
    result_schema: Mapping[str, Any] | None
    exact: Checker | None = None
    cost: int = 1
    is_local: bool = True


NO_SCHEMAS: Final = ToolSchemas(None, None, None, None)
"""The schemas of a result without a schema."""


@dataclass(slots=True)
class SchemaCache:
    """A cache of compiled schemas by fingerprint, so that a changed tool is compiled again."""

    _known: dict[str, ToolSchemas] = field(default_factory=dict[str, ToolSchemas])

    def of(self, tool: Tool) -> ToolSchemas:
        schemas = self._known.get(tool.fingerprint)
        if schemas is None:
            if len(self._known) >= _MAX_CACHED_TOOLS:
                self._known.clear()  # a server that keeps changing its tools must not fill memory
            schemas = self._known[tool.fingerprint] = _compile(tool)
        return schemas


def _compile(tool: Tool) -> ToolSchemas:
    schema = tool.raw.get("outputSchema")
    result_schema = cast("Mapping[str, Any]", schema) if isinstance(schema, Mapping) else None
    arguments = _or_none(BoundedChecker, tool.input_schema)
    if result_schema is None:
        return ToolSchemas(arguments, None, None, None)
    cost = schema_cost(result_schema)
    if cost is None or cost > MAX_LOCAL_COST:
        return ToolSchemas(arguments, None, None, result_schema, is_local=False)
    return schemas_of(result_schema, arguments, cost)


def schemas_of(
    schema: Mapping[str, Any] | None, arguments: BoundedChecker | None = None, cost: int = 1
) -> ToolSchemas:
    """Compile the schema of a result without checking its cost."""
    result = _or_none(Checker, schema)
    if result is None or schema is None:
        return ToolSchemas(arguments, None, None, None)
    closed = _or_none(Checker, exact(schema))
    return ToolSchemas(arguments, result, Stripper(schema), schema, closed, cost)


def _or_none(
    compile_: Callable[[Mapping[str, Any]], C], schema: Mapping[str, Any] | None
) -> C | None:
    """Compile a schema; return `None` for an invalid schema, so that its tool stays usable."""
    try:
        return None if schema is None else compile_(schema)
    except UsageError:
        return None


def shaped(
    answer: Answer, schemas: ToolSchemas, limit: int, resume: Resume | None = None
) -> tuple[Answer, tuple[Problem, ...]]:
    """Return `answer` stripped to its schema and cut to `limit` characters, or its problems.

    If `structuredContent` changes, the text block with the same JSON is written again. `limit`
    applies once to `structuredContent`, and once to all other texts together. `resume` is the way
    to request the rest of a list.

    A result that the schema does not allow to be cut stays whole up to `MAX_WHOLE_CHARACTERS`. A
    longer one becomes an error.
    """
    structured = answer.get("structuredContent")
    if structured is None:
        return cut_text(answer, limit), ()
    value = structured
    if schemas.result is not None and schemas.stripper is not None:
        value = schemas.stripper.strip(structured)
        if problems := schemas.result.problems(value):
            return answer, problems
    try:
        cut = cut_value(value, schemas, limit, resume)
    except CompletenessError:
        cut = Cut(value, fits=False)
    if not cut.fits and (length := size(cut.value)) > max(limit, MAX_WHOLE_CHARACTERS):
        return _too_long(length, limit), ()
    if cut.is_cut:
        changed = cut_text(with_structure(answer, cut.value), limit)
        return _marked(changed, cut.notice), ()
    if value is not structured:
        answer = with_structure(answer, value)
    return cut_text(answer, limit), ()


def cut_value(value: Any, schemas: ToolSchemas, limit: int, resume: Resume | None = None) -> Cut:
    """Cut a value to `limit` characters, and correct its fields about being complete.

    Raises `CompletenessError` if the schema forces the cut value to state that it is complete.
    """
    accepts = partial(_accepts, schemas)
    room = limit
    cut = Cut(value)
    for attempt in range(_MAX_TRIES):
        cut = truncate(value, schemas.result_schema, limit=max(room, 1), accepts=accepts)
        if not cut.is_cut:
            return cut
        items = None
        if resume is not None and isinstance(value, Mapping):
            items = cast("Mapping[str, Any]", value).get(resume.name)
        cut = with_continuation(cut, accepts, resume, schema=schemas.result_schema, items=items)
        excess = size(cut.value) - limit
        cut = replace(cut, fits=excess <= 0)
        # Fields added next to the list need room too. Their length depends on where the list is
        # cut, so each further try removes more than the try before it.
        removed = excess * 4**attempt
        if excess <= 0 or room <= removed:
            break
        room -= removed
    return cut


def with_structure(answer: Answer, value: Any) -> Answer:
    """Return `answer` with another structured value, also in its JSON text block."""
    others = [block for block in _blocks(answer) if not is_json_text(block)]
    text = {"type": "text", "text": write_json(value)}
    return {**answer, "structuredContent": value, "content": [text, *others]}


def _accepts(schemas: ToolSchemas, value: Any) -> bool:
    if schemas.result is None or schemas.stripper is None:
        return True
    return schemas.result.is_valid(value) and schemas.stripper.strip(value) is value


def cut_text(answer: Answer, limit: int) -> Answer:
    """Return `answer` with at most `limit` characters in all its texts together.

    A text that repeats the structured result stays and does not count. A JSON text loses items, and
    any other text loses its end. If there are too many texts, the last ones are left out.
    """
    blocks = _blocks(answer)
    if sum(map(text_length, blocks)) <= limit:
        return answer
    texts = _places(blocks, answer.get("structuredContent"))
    count = max(limit // MIN_BLOCK_CHARACTERS, 1)
    gone = set(texts[count:])
    counted = set(texts)
    lengths = [text_length(blocks[index]) for index in texts[:count]]
    cap = level(lengths, sum(lengths) - limit)
    content: list[Any] = []
    notices: list[str] = []
    is_changed = False
    for index, block in enumerate(blocks):
        if index in gone:
            continue
        if index not in counted or text_length(block) <= cap:
            content.append(block)
            continue
        text, notice = _shortened(_text_of(block), cap)
        content.append(_with_text(block, text))
        is_changed = True
        if notice:
            notices.append(notice)
    if gone:
        notices.append(f"Showing the first {count} of {len(texts)} texts; the others are left out.")
    if notices:
        return _marked({**answer, "content": content}, *notices)
    if is_changed:
        return {**answer, "content": content}
    return answer


def _places(blocks: list[dict[str, Any]], structured: Any) -> list[int]:
    places = [index for index, block in enumerate(blocks) if text_length(block)]
    if structured is None:
        return places
    return [index for index in places if _json_in(blocks[index]) != structured]


def _shortened(text: str, limit: int) -> tuple[str, str]:
    """Return a text cut to `limit` characters, and a sentence that states what is missing."""
    value = _json_of(text)
    if value is not None:
        try:
            cut = cut_value(value, NO_SCHEMAS, limit)
        except CompletenessError:
            cut = Cut(value, fits=False)
        if cut.fits:
            return write_json(cut.value), cut.notice
    shorter = clip(text, limit)
    length = shorter.rindex(MARKER)
    return shorter, f"A text is cut to the first {length} of {len(text)} characters."


def text_length(block: Any) -> int:
    """Return the length of a content block's text, also in an embedded resource."""
    return len(_text_of(block))


def _text_of(block: Any) -> str:
    if not isinstance(block, Mapping):
        return ""
    members = cast("Mapping[str, Any]", block)
    text = members.get("text")
    if text is None and isinstance(members.get("resource"), Mapping):
        text = members["resource"].get("text")
    return text if isinstance(text, str) else ""


def _with_text(block: dict[str, Any], text: str) -> dict[str, Any]:
    if isinstance(block.get("text"), str):
        return {**block, "text": text}
    return {**block, "resource": {**block["resource"], "text": text}}


def _too_long(length: int, limit: int) -> Answer:
    return tool_error(
        f"The tool ran, but its result has {length} characters, the limit is {limit}, and its "
        "output schema allows no shorter one, so it is withheld. Ask for less at a time."
    )


def _blocks(answer: Answer) -> list[dict[str, Any]]:
    content = answer.get("content")
    return cast("list[dict[str, Any]]", content) if isinstance(content, list) else []


def is_json_text(block: Mapping[str, Any]) -> bool:
    """Return whether a block is text that is a JSON object or list."""
    return _json_in(block) is not None


def _json_in(block: Mapping[str, Any]) -> Any:
    text = block.get("text")
    if block.get("type") != "text" or not isinstance(text, str):
        return None
    return _json_of(text)


def _json_of(text: str) -> Any:
    bare = text.lstrip(_BLANK)
    if not bare.startswith(("{", "[")):
        return None
    try:
        return read_json(bare)
    except ValueError:
        return None


def _marked(answer: Answer, *notices: str) -> Answer:
    meta: Mapping[str, Any] = answer.get("_meta") or {}
    blocks = [{"type": "text", "text": notice} for notice in notices]
    return {**answer, "content": [*_blocks(answer), *blocks], "_meta": {**meta, "truncated": True}}
