"""A messages API on loopback that says what a test has written, and checks what it is sent."""

import re
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from anthropic import AsyncAnthropic
from anthropic.types import ToolParam, ToolResultBlockParam
from pydantic import TypeAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from tests.connect.serving import serve_app

NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
_TOOL = TypeAdapter[Any](ToolParam)
_RESULT = TypeAdapter[Any](ToolResultBlockParam)


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def use(id_: str, name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": name, "input": given}


@dataclass
class Api:
    """An answer is a list of blocks, with a stop reason before it or none, or a status."""

    answers: deque[Any]
    bodies: list[dict[str, Any]] = field(default_factory=list)

    async def answer(self, request: Request) -> Response:
        body = await request.json()
        try:
            _check(body)
        except (AssertionError, ValueError) as error:
            return _error(400, f"{error}")
        self.bodies.append(body)
        said = self.answers.popleft()
        if isinstance(said, int):
            return _error(said, "try again")
        reason, content = said if isinstance(said, tuple) else (None, said)
        uses = any(one["type"] == "tool_use" for one in content)
        return JSONResponse(
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": body["model"],
                "content": content,
                "stop_reason": reason or ("tool_use" if uses else "end_turn"),
                "stop_sequence": None,
                "usage": {"input_tokens": 10, "output_tokens": 5},
            }
        )


def _error(status: int, message: str) -> Response:
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    return JSONResponse(error, status, headers={"retry-after-ms": "1"})


def _check(body: dict[str, Any]) -> None:
    assert body["max_tokens"] > 0
    assert "system" not in body or body["system"]
    for tool in body.get("tools", []):
        _check_tool(tool)
    messages = body["messages"]
    assert messages[0]["role"] == "user"
    for place, message in enumerate(messages):
        content = message["content"]
        assert content, f"message {place} is empty"
        blocks = [] if isinstance(content, str) else content
        assert all(one["text"] for one in blocks if one["type"] == "text"), "an empty text"
        wanted = [one["id"] for one in blocks if one["type"] == "tool_use"]
        after = messages[place + 1]["content"] if wanted else []
        found = [one["tool_use_id"] for one in after if one["type"] == "tool_result"]
        assert found == wanted, f"tool_use without tool_result: {wanted}, {found}"
        for one in after:
            held = _RESULT.validate_python(one)
            assert one.keys() <= ToolResultBlockParam.__annotations__.keys()
            list(held["content"])


def _check_tool(tool: dict[str, Any]) -> None:
    _TOOL.validate_python(tool)
    assert tool.keys() <= ToolParam.__annotations__.keys()
    assert NAME.match(tool["name"])
    schema = tool["input_schema"]
    assert schema["type"] == "object"
    assert not schema.keys() & {"anyOf", "oneOf", "allOf"}


@asynccontextmanager
async def open_api(*answers: Any) -> AsyncGenerator[tuple[AsyncAnthropic, Api]]:
    """A client of an API that gives these answers."""
    api = Api(deque(answers))
    app = Starlette(routes=[Route("/v1/messages", api.answer, methods=["POST"])])
    async with serve_app(app) as base, AsyncAnthropic(api_key="none", base_url=base) as client:
        yield client, api
