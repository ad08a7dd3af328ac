"""What a tool's arguments and results must look like: compiled once for each tool as it stands."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from avow.catalog import Tool
from avow.errors import UsageError
from avow.guard.call import Answer
from avow.schema import Checker, Cut, Problem, Stripper, exact, truncate

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


def shaped(answer: Answer, shape: Shape, limit: int) -> tuple[Answer, tuple[Problem, ...]]:
    """`answer` stripped to its schema and cut to `limit` characters, or what breaks the schema.

    The structured block and the text block say the same: where either was changed, text that is
    JSON is written anew. Text that is not JSON is left as it is.
    """
    structured = answer.get("structuredContent")
    if structured is None:
        return _cut_text(answer, limit), ()
    if shape.result is None or shape.stripper is None:
        cut = truncate(structured, limit=limit)
        return (_with_structure(answer, cut) if cut.is_cut else _cut_text(answer, limit)), ()
    stripped = shape.stripper.strip(structured)
    problems = shape.result.problems(stripped)
    if problems:
        return answer, problems
    cut = truncate(stripped, shape.result_schema, limit=limit)
    if cut.value is structured:
        return answer, ()
    return _with_structure(answer, cut), ()


def _with_structure(answer: Answer, cut: Cut) -> Answer:
    kept = [block for block in _blocks(answer) if not is_json_text(block)]
    text = json.dumps(cut.value, ensure_ascii=False)
    content = [{"type": "text", "text": text}, *kept, *_notice(cut)]
    return {**answer, "structuredContent": cut.value, "content": content, **_told(answer, cut)}


def _cut_text(answer: Answer, limit: int) -> Answer:
    """Cut JSON in text blocks of a result without a schema; other text is not JSON to be cut."""
    content: list[Any] = []
    last: Cut | None = None
    for block in _blocks(answer):
        if not is_json_text(block) or len(block["text"]) <= limit:
            content.append(block)
            continue
        cut = truncate(json.loads(block["text"].lstrip(_BLANK)), limit=limit)
        if not cut.is_cut:
            content.append(block)
            continue
        content.append({**block, "text": json.dumps(cut.value, ensure_ascii=False)})
        last = cut
    if last is None:
        return answer
    return {**answer, "content": [*content, *_notice(last)], **_told(answer, last)}


def _blocks(answer: Answer) -> list[dict[str, Any]]:
    content = answer.get("content")
    return cast("list[dict[str, Any]]", content) if isinstance(content, list) else []


def is_json_text(block: Mapping[str, Any]) -> bool:
    """Whether a block is text that is a JSON object or list."""
    text = block.get("text")
    if block.get("type") != "text" or not isinstance(text, str):
        return False
    if not text.lstrip(_BLANK).startswith(("{", "[")):
        return False
    try:
        json.loads(text.lstrip(_BLANK))
    except (ValueError, RecursionError):
        return False
    return True


def _notice(cut: Cut) -> list[dict[str, Any]]:
    if not cut.is_cut:
        return []
    sentence = f"Showing the first {cut.kept} of {cut.total}; filter or page for more."
    return [{"type": "text", "text": sentence}]


def _told(answer: Answer, cut: Cut) -> dict[str, Any]:
    if not cut.is_cut:
        return {}
    meta: Mapping[str, Any] = answer.get("_meta") or {}
    return {"_meta": {**meta, "truncated": True}}
