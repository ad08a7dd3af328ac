"""What a tool's arguments and results must look like: compiled once for each tool as it stands."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, cast

from avow.catalog import Tool
from avow.errors import UsageError
from avow.guard.call import Answer, Resume
from avow.guard.rest import is_of, with_rest
from avow.schema import Checker, Cut, Problem, Stripper, exact, truncate
from avow.schema.compact import read_json, write_json

_MOST: Final = 10_000
_BLANK: Final = " \t\r\n\ufeff"
"""What may stand before JSON (RFC 8259, sections 2 and 8.1)."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The compiled schemas of one tool; `None` where it has none, or none that is a schema.

    What fits `exact` needs no stripping.
    """

    arguments: Checker | None
    result: Checker | None
    stripper: Stripper | None
    result_schema: Mapping[str, Any] | None
    exact: Checker | None = None


@dataclass(slots=True)
class Shapes:
    """Shapes by fingerprint: a tool that changes is compiled anew."""

    _known: dict[str, Shape] = field(default_factory=dict[str, Shape])

    def of(self, tool: Tool) -> Shape:
        """The shape of `tool`."""
        shape = self._known.get(tool.fingerprint)
        if shape is None:
            if len(self._known) >= _MOST:
                self._known.clear()  # a server that keeps changing its tools must not fill memory
            shape = self._known[tool.fingerprint] = _compile(tool)
        return shape


def _compile(tool: Tool) -> Shape:
    schema = tool.raw.get("outputSchema")
    result_schema = cast("Mapping[str, Any]", schema) if isinstance(schema, Mapping) else None
    result = _checker(result_schema)
    arguments = _checker(tool.input_schema)
    if result is None or result_schema is None:
        return Shape(arguments, None, None, None)
    closed = exact(result_schema)
    return Shape(arguments, result, Stripper(result_schema), result_schema, _checker(closed))


def _checker(schema: Mapping[str, Any] | None) -> Checker | None:
    """A server's schema that is none must not make its tool unusable: then nothing is checked."""
    try:
        return None if schema is None else Checker(schema)
    except UsageError:
        return None


def shaped(
    answer: Answer, shape: Shape, limit: int, resume: Resume | None = None
) -> tuple[Answer, tuple[Problem, ...]]:
    """`answer` stripped to its schema and cut to `limit` characters, or what breaks the schema.

    The structured block and the text block say the same: where either was changed, text that is
    JSON is written anew. Text that is not JSON is left as it is. `resume` is how to go on with
    the list that is cut, where that is known.
    """
    structured = answer.get("structuredContent")
    if structured is None:
        return _cut_text(answer, limit), ()
    value = structured
    if shape.result is not None and shape.stripper is not None:
        value = shape.stripper.strip(structured)
        if problems := shape.result.problems(value):
            return answer, problems
    cut = _cut(value, shape, limit, resume)
    if cut.is_cut:
        told, sentence = with_rest(cut, partial(_accepts, shape), resume)
        return _marked(with_structure(answer, told, _notice(sentence))), ()
    if value is not structured:
        return with_structure(answer, value), ()
    return (answer if shape.result else _cut_text(answer, limit)), ()


def with_structure(answer: Answer, value: Any, *more: Mapping[str, Any]) -> Answer:
    """`answer` with another value, in both blocks, and `more` blocks at its end."""
    kept = [block for block in _blocks(answer) if not is_json_text(block)]
    text = {"type": "text", "text": write_json(value)}
    return {**answer, "structuredContent": value, "content": [text, *kept, *more]}


def _cut(value: Any, shape: Shape, limit: int, resume: Resume | None) -> Cut:
    cut = truncate(value, shape.result_schema, limit=limit)
    if resume is None or not is_of(resume, cut):
        return cut
    # The cursor beside the list needs room too; none is longer than the one after all items.
    longest = resume.cursor(value[resume.name]) or ""
    room = len(write_json({resume.field: longest}))
    return truncate(value, shape.result_schema, limit=max(limit - room, 1))


def _accepts(shape: Shape, value: Any) -> bool:
    """Whether a value that was changed here is still what its tool promised."""
    if shape.result is None or shape.stripper is None:
        return True
    return shape.result.is_valid(value) and shape.stripper.strip(value) is value


def _cut_text(answer: Answer, limit: int) -> Answer:
    """Cut JSON in text blocks of a result without a schema; other text is not JSON to be cut."""
    content: list[Any] = []
    said: list[str] = []
    for block in _blocks(answer):
        cut = _cut_json(block, limit)
        if cut is None:
            content.append(block)
            continue
        value, sentence = with_rest(cut, lambda _: True)
        content.append({**block, "text": write_json(value)})
        said.append(sentence)
    if not said:
        return answer
    return _marked({**answer, "content": [*content, *map(_notice, said)]})


def _cut_json(block: Mapping[str, Any], limit: int) -> Cut | None:
    text = block.get("text")
    if not isinstance(text, str) or len(text) <= limit or (value := _json_in(block)) is None:
        return None
    cut = truncate(value, limit=limit)
    return cut if cut.is_cut else None


def _blocks(answer: Answer) -> list[dict[str, Any]]:
    content = answer.get("content")
    return cast("list[dict[str, Any]]", content) if isinstance(content, list) else []


def is_json_text(block: Mapping[str, Any]) -> bool:
    """Whether a block is text that is a JSON object or list."""
    return _json_in(block) is not None


def _json_in(block: Mapping[str, Any]) -> Any:
    """The object or list that a text block holds, if it holds one and nothing else."""
    text = block.get("text")
    if block.get("type") != "text" or not isinstance(text, str):
        return None
    bare = text.lstrip(_BLANK)
    if not bare.startswith(("{", "[")):
        return None
    try:
        return read_json(bare)
    except ValueError:
        return None


def _notice(sentence: str) -> dict[str, Any]:
    return {"type": "text", "text": sentence}


def _marked(answer: Answer) -> Answer:
    meta: Mapping[str, Any] = answer.get("_meta") or {}
    return {**answer, "_meta": {**meta, "truncated": True}}
