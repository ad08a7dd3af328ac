"""A server with and without sayso: alike on the wire, and fewer lines."""

import ast
import runpy
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import CallToolResult, ElicitResult, TextContent

pytestmark = pytest.mark.anyio

DOCS = Path(__file__).parents[2] / "docs"
FILES = ("servers-sayso.py", "servers-plain.py")


@asynccontextmanager
async def opened(name: str, mode: str, *, yes: bool = True) -> AsyncGenerator[Client]:
    async def answer(context: Any, params: Any) -> ElicitResult:
        del context, params
        return ElicitResult(action="accept", content={"approve": yes})

    server = runpy.run_path(str(DOCS / name))["server"]
    async with Client(server, mode=mode, elicitation_callback=answer) as client:
        yield client


def code_lines(path: Path) -> int:
    """Lines that hold code: no blank ones, comments or docstrings."""
    tree = ast.parse(path.read_text())
    spoken = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines = path.read_text().splitlines()
    return sum(
        bool(line.strip()) and not line.strip().startswith("#") and number not in spoken
        for number, line in enumerate(lines, start=1)
    )


@pytest.fixture(params=["legacy", "2026-07-28"])
def mode(request: pytest.FixtureRequest) -> str:
    return request.param


async def test_both_list_the_same_tools(mode: str) -> None:
    listed: list[Any] = []
    for name in FILES:
        async with opened(name, mode) as client:
            tools = (await client.list_tools()).tools
            listed.append([one.model_dump(by_alias=True, exclude_none=True) for one in tools])

    assert listed[0] == listed[1]


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("customer_get", {"customer_id": 1}),
    ("customer_rename", {"customer_id": 1, "name": "Anna"}),
    ("customers_purge", {"dry_run": True}),
    ("customers_purge", {}),
    ("customer_delete", {"customer_id": 1}),
]
MISTAKES: list[tuple[str, dict[str, Any]]] = [
    ("customer_get", {"customer_id": 9}),
    ("customer_get", {"customer_id": "1"}),
    ("customer_get", {"customer_id": 0}),
    ("customer_get", {}),
    ("customers_purge", {"dryRun": True}),
    ("customer_delete", {"customer_id": 9}),
]


async def test_both_answer_alike(mode: str) -> None:
    answers: list[Any] = []
    for name in FILES:
        async with opened(name, mode) as client:
            answers.append([_told(await client.call_tool(*one)) for one in CALLS])

    assert answers[0] == answers[1]


@pytest.mark.parametrize("name", FILES)
async def test_both_refuse_the_same_mistakes(name: str, mode: str) -> None:
    async with opened(name, mode) as client:
        for one in MISTAKES:
            assert (await client.call_tool(*one)).is_error, one


@pytest.mark.parametrize("name", FILES)
async def test_both_keep_what_a_person_does_not_let_go(name: str, mode: str) -> None:
    async with opened(name, mode, yes=False) as client:
        for one in CALLS[3:]:
            assert (await client.call_tool(*one)).is_error, one
        for number in (1, 2):
            assert not (await client.call_tool("customer_get", {"customer_id": number})).is_error


def test_with_sayso_it_is_half_as_long() -> None:
    sayso, plain = (code_lines(DOCS / name) for name in FILES)

    assert sayso * 2 < plain, (sayso, plain)


def _told(answer: CallToolResult) -> Any:
    """Return the content, with text that repeats the structure replaced."""
    structured: Any = answer.structured_content
    texts = [one.text for one in answer.content if isinstance(one, TextContent)]
    is_text = structured is None or isinstance(structured.get("result"), str)
    return (answer.is_error, structured, texts if is_text else None)
