"""A model's tool calls and their results."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from sayso.approvals import Approval
from sayso.audit import Outcome
from sayso.errors import UsageError
from sayso.guard import Answer, denial, tool_error
from sayso.schema import parse_json


class BadArgumentsError(UsageError):
    """Arguments from a model that are not a JSON object."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's call of a tool; `arguments` is JSON text or a mapping.

    `id` comes from the model and is returned with the result. `key` is an idempotency key: a call
    whose key was used before gets the first answer and does not run again.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | str | None = None
    key: str | None = None

    def read_arguments(self) -> dict[str, Any]:
        """Return the arguments, empty if there are none. Raises `BadArgumentsError`."""
        arguments = self.arguments
        if isinstance(arguments, Mapping):
            return dict(arguments)
        if not arguments or not arguments.strip():
            return {}
        try:
            value: object = parse_json(arguments)
        except UsageError as error:
            raise BadArgumentsError(error.what, where=error.where) from error
        if not isinstance(value, dict):
            raise BadArgumentsError("the arguments must be a JSON object")
        return cast("dict[str, Any]", value)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call. `text` is for the model and includes the reason of a failure.

    `answer` is the `tools/call` result in wire form, with pictures. `outcome` is the recorded
    outcome, or `None` if the call was not recorded. `approval` is the call's open question, if any.
    """

    id: str
    name: str
    answer: Answer
    outcome: Outcome | None = None
    approval: Approval | None = None

    @property
    def is_error(self) -> bool:
        return self.answer.get("isError") is True

    @property
    def text(self) -> str:
        """The answer's text blocks, with a placeholder for each block of another kind."""
        return "\n".join(str(part) for part in self.parts)

    @property
    def parts(self) -> "tuple[str | Picture, ...]":
        blocks = cast("list[Any]", self.answer.get("content") or [])
        structured = self.answer.get("structuredContent")
        if not blocks and structured is not None:
            return (json.dumps(structured, ensure_ascii=False),)
        return tuple(_part(as_object(block)) for block in blocks)


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture in a result: its media type, and its bytes in base64."""

    kind: str
    data: str

    def __str__(self) -> str:
        return f"[image: {self.kind}]"


def refuse(call: ToolCall, why: str) -> ToolResult:
    """Return the result of a call that was refused before it ran."""
    return ToolResult(call.id, call.name, tool_error(f"Nothing was run: {why}"))


def decline(call: ToolCall, number: int, message: str | None) -> ToolResult:
    """Return the result of a call that a person denied in approval `number`."""
    answer = tool_error(denial(number, message))
    return ToolResult(call.id, call.name, answer, Outcome.DENIED)


def _part(block: Mapping[str, Any]) -> str | Picture:
    inner = as_object(block.get("resource"))
    kind = block.get("mimeType") or inner.get("mimeType") or "unknown"
    for text in (block.get("text"), inner.get("text")):
        if isinstance(text, str):
            return text
    if block.get("type") == "image" and isinstance(block.get("data"), str):
        return Picture(str(kind), block["data"])
    if isinstance(block.get("uri"), str):
        return f"[{block.get('type', 'link')}: {block['uri']}]"
    return f"[{block.get('type', 'block')}: {kind}]"


def as_object(value: object) -> Mapping[str, Any]:
    """Return `value` if it is a JSON object, else an empty one."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
