"""What goes to and fro between a model and its tools: a call, and what came of it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from avow.approvals import Approval
from avow.audit import Outcome
from avow.errors import UsageError
from avow.guard import Answer, tool_error
from avow.schema import parse_json


class BadArgumentsError(UsageError):
    """What a model wrote as arguments is no JSON object."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's call of a tool; `arguments` as JSON text or read already.

    `id` is the model's own, and comes back with the result. A call with a `key` that was used gets
    the first one's answer, and does not run again.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | str | None = None
    key: str | None = None

    def read_arguments(self) -> dict[str, Any]:
        """The arguments, none as an empty object. Raises `BadArgumentsError`."""
        said = self.arguments
        if isinstance(said, Mapping):
            return dict(said)
        try:
            value: object = parse_json(said) if said and said.strip() else {}
        except UsageError as error:
            raise BadArgumentsError(error.what, where=error.where) from error
        if not isinstance(value, dict):
            raise BadArgumentsError("they are JSON, and no object")
        return cast("dict[str, Any]", value)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came of a call, for the model: `text` says it all, also why there is no result.

    `answer` is the `tools/call` result in wire form, for whoever shows pictures too. `outcome` is
    what the record says; `None` where the call went no further than to be read. `approval` is the
    question that it waits for.
    """

    id: str
    name: str
    answer: Answer
    outcome: Outcome | None = None
    approval: Approval | None = None

    @property
    def is_error(self) -> bool:
        """Whether the model is told of a failure."""
        return self.answer.get("isError") is True

    @property
    def text(self) -> str:
        """The blocks of the answer as text; of what is none, what it is."""
        blocks = cast("list[Any]", self.answer.get("content") or [])
        found = [_said(one) for one in blocks]
        structured = self.answer.get("structuredContent")
        if not found and structured is not None:
            return json.dumps(structured, ensure_ascii=False)
        return "\n".join(found)


def refuse(call: ToolCall, why: str) -> ToolResult:
    """The result of a call that nothing was run for."""
    return ToolResult(call.id, call.name, tool_error(f"Nothing was run: {why}"))


def _said(block: Any) -> str:
    one = cast("Mapping[str, Any]", block) if isinstance(block, Mapping) else {}
    if isinstance(one.get("text"), str):
        return one["text"]
    inner = one.get("resource")
    if isinstance(inner, Mapping) and isinstance(inner.get("text"), str):
        return inner["text"]
    if isinstance(one.get("uri"), str):
        return f"[{one.get('type', 'link')}: {one['uri']}]"
    kind = one.get("mimeType") or (inner or {}).get("mimeType") or "unknown"
    return f"[{one.get('type', 'block')}: {kind}]"
