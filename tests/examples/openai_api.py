"""OpenAI's two APIs on loopback: they say what a test has written, and check what they are sent."""

import re
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionToolMessageParam
from openai.types.responses import FunctionToolParam
from openai.types.responses.response_input_item_param import FunctionCallOutput
from pydantic import TypeAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from tests.connect.serving import serve_app

NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")


@dataclass
class Api:
    """An answer is a text, a list of calls (id, name, arguments), a whole answer, or a status."""

    answers: deque[Any]
    bodies: list[dict[str, Any]] = field(default_factory=list)

    async def respond(self, request: Request) -> Response:
        return await self._answer(request, _check_response, _response)

    async def complete(self, request: Request) -> Response:
        return await self._answer(request, _check_chat, _completion)

    async def _answer(
        self, request: Request, check: Callable[[Any], None], made: Callable[[Any], dict[str, Any]]
    ) -> Response:
        body = await request.json()
        try:
            check(body)
        except (AssertionError, ValueError) as error:
            return _error(400, str(error))
        self.bodies.append(body)
        said = self.answers.popleft()
        if isinstance(said, int):
            return _error(said, "try again")
        return JSONResponse({"id": "a", "model": body["model"], **made(said)})


def _error(status: int, message: str) -> Response:
    return JSONResponse({"error": {"message": message}}, status, headers={"retry-after-ms": "1"})


def _response(said: Any) -> dict[str, Any]:
    if isinstance(said, dict):
        return {**_response(said.pop("output")), **said}
    output = [
        {"type": "function_call", "id": f"fc_{id_}", "call_id": id_, "name": name, "arguments": of}
        for id_, name, of in ([] if isinstance(said, str) else said)
    ]
    part = {"type": "output_text", "text": said, "annotations": []}
    told = {"type": "message", "id": "m", "role": "assistant", "status": "completed"}
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    usage = {
        "input_tokens": 10,
        "output_tokens": 5,
        "total_tokens": 15,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    return {
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "output": [{**told, "content": [part]}] if isinstance(said, str) else [thought, *output],
        "usage": usage,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def _completion(said: Any) -> dict[str, Any]:
    if isinstance(said, dict):
        made = _completion(said["said"])
        made["choices"][0] |= {"finish_reason": said["finish_reason"]}
        return made
    message: dict[str, Any] = {"role": "assistant", "content": None, "annotations": []}
    if isinstance(said, str):
        message["content"] = said
    else:
        message["tool_calls"] = [
            {"id": id_, "type": "function", "function": {"name": name, "arguments": of}}
            for id_, name, of in said
        ]
    reason = "stop" if isinstance(said, str) else "tool_calls"
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    choice = {"index": 0, "finish_reason": reason, "message": message}
    return {"object": "chat.completion", "created": 0, "choices": [choice], "usage": usage}


def _fits(kind: Any, value: dict[str, Any]) -> None:
    TypeAdapter[Any](kind).validate_python(value)
    assert value.keys() <= kind.__annotations__.keys(), value


def _check_function(function: dict[str, Any]) -> None:
    assert NAME.match(function["name"])
    assert function["strict"] is False
    assert function["parameters"]["type"] == "object"
    assert not function["parameters"].keys() & {"anyOf", "oneOf", "allOf", "enum", "not"}


def _check_response(body: dict[str, Any]) -> None:
    assert "instructions" not in body or body["instructions"]
    for tool in body.get("tools", []):
        _fits(FunctionToolParam, tool)
        _check_function(tool)
    calls = [one["call_id"] for one in body["input"] if one.get("type") == "function_call"]
    outputs = [one for one in body["input"] if one.get("type") == "function_call_output"]
    for one in outputs:
        _fits(FunctionCallOutput, one)
    assert [one["call_id"] for one in outputs] == calls, "a call without an output"


def _check_chat(body: dict[str, Any]) -> None:
    for tool in body.get("tools", []):
        _fits(ChatCompletionFunctionToolParam, tool)
        _check_function(tool["function"])
    messages = deque(body["messages"])
    while messages:
        message = messages.popleft()
        assert message["role"] in {"system", "user", "assistant"}, message
        assert not message.keys() & {"annotations", "audio"}
        for one in message.get("tool_calls") or ():
            result = messages.popleft() if messages else {}
            _fits(ChatCompletionToolMessageParam, result)
            assert result["tool_call_id"] == one["id"]


@asynccontextmanager
async def open_api(*answers: Any) -> AsyncGenerator[tuple[AsyncOpenAI, Api]]:
    """A client of an API that gives these answers."""
    api = Api(deque(answers))
    app = Starlette(
        routes=[
            Route("/v1/responses", api.respond, methods=["POST"]),
            Route("/v1/chat/completions", api.complete, methods=["POST"]),
        ]
    )
    async with (
        serve_app(app) as base,
        AsyncOpenAI(api_key="none", base_url=f"{base}/v1") as client,
    ):
        yield client, api
