"""Results that no transport can write, or that would end a program, fail one call only.

Over stdio a single half of a surrogate pair in a result once ended the whole server.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import anyio
import pytest
from mcp import Client
from mcp.server.lowlevel import Server
from pydantic import AfterValidator
from tests.serve.serving import (
    ERAS,
    KINDS,
    Caller,
    Studio,
    lines,
    offer,
    outcomes,
    over_stdio,
    text,
)
from tests.warm import Warm

import sayso
from sayso.serve import Tools
from sayso.serve.functions import called

pytestmark = pytest.mark.anyio

HALF = "\ud800"
SECRET = "hunter2"


class Dumped:
    """An object that looks like a model and ends the program when it is read."""

    def model_dump(self, **_: Any) -> Any:
        raise SystemExit(SECRET)


class Lying(dict[str, Any]):
    """An object that does not say all that it holds."""

    def items(self) -> Any:
        return {"id": 1}.items()


def deep(levels: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(levels):
        found = {"in": found}
    return found


def block(**more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": "seen"}], **more}


UNSENDABLE: dict[str, Callable[[sayso.Context], Any]] = {
    "half": lambda _: HALF,
    "half_inside": lambda ctx: ctx.json({"name": HALF}),
    "half_as_key": lambda ctx: ctx.json({HALF: 1}),
    "half_in_meta": lambda _: block(_meta={"note": HALF}),
    "deep": lambda ctx: ctx.json(deep(500)),
    "deep_in_meta": lambda _: block(_meta=deep(500)),
    "a_number_as_key": lambda ctx: ctx.json({1: 2}),
    "a_set_in_a_block": lambda _: {"content": [{"type": "text", "text": "seen", "_meta": {1, 2}}]},
    "no_block": lambda _: {"content": [{"type": "nonsense", "text": "seen"}]},
    "no_meta": lambda _: block(_meta="seen"),
    "nan": lambda ctx: ctx.json([float("nan")]),
    "long_beside_a_structure": lambda _: {
        "content": [{"type": "text", "text": "x" * 2_000_000}],
        "structuredContent": {"id": 1},
    },
}

ENDS: dict[str, BaseException] = {
    "interrupt": KeyboardInterrupt(SECRET),
    "thrown_away": GeneratorExit(SECRET),
    "exit": SystemExit(SECRET),
}


def fatal(_: Any) -> Any:
    raise SystemExit(SECRET)


def executing(make: Callable[[sayso.Context], Any]) -> Any:
    def execute(ctx: sayso.Context, _: Any) -> Any:
        return make(ctx)

    return execute


def raising(error: BaseException) -> Callable[[], str]:
    def function() -> str:
        raise error

    return function


def declare(tools: Tools, _: Studio) -> None:
    for name, make in UNSENDABLE.items():
        tools.add(name=name, intent=sayso.READ_ONLY, execute=executing(make))
    for name, error in ENDS.items():
        tools.tool(sayso.READ_ONLY, name=name)(raising(error))
    tools.add(name="dumped", intent=sayso.READ_ONLY, execute=executing(lambda _: Dumped()))

    @tools.tool(sayso.READ_ONLY)
    async def thrown_away_later() -> str:
        await anyio.lowlevel.checkpoint()
        raise GeneratorExit(SECRET)

    @tools.tool(sayso.READ_ONLY)
    def half_typed() -> str:
        return HALF

    @tools.tool(sayso.READ_ONLY)
    def checked(number: Annotated[int, AfterValidator(fatal)]) -> int:
        return number

    @tools.tool(sayso.WRITE)
    async def told(done: str) -> str:
        odd: Any = {"nan": float("nan"), "huge": 10**400, "text": "3"}.get(done, 1)
        await sayso.context().progress(odd, 2, HALF)
        return "done"

    @tools.tool(sayso.READ_ONLY)
    def fine() -> str:
        return "fine"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.process
async def test_a_server_over_stdio_outlives_what_cannot_be_sent(
    kind: str, era: str, tmp_path: Path, frameworks: Warm
) -> None:
    target = over_stdio(frameworks, "tests.serve.test_unsendable", kind, tmp_path)
    async with Client(target, mode=era) as client:
        caller = Caller(client)
        for name in [*UNSENDABLE, *ENDS, "half_typed", "dumped", "thrown_away_later"]:
            result = await caller.call(name)
            assert result.is_error, name
            assert SECRET not in result.model_dump_json(), name
        for odd in ("nan", "huge", "text", "half"):
            told = await caller.call("told", {"done": odd}, progress_callback=_heard)
            assert text(told) == "done"
        assert (await caller.call("checked", {"number": 1})).is_error
        assert text(await caller.call("fine")) == "fine"


async def _heard(*_: Any) -> None:
    pass


@pytest.mark.parametrize("kind", KINDS)
async def test_what_cannot_be_sent_is_on_record_as_a_bad_output(kind: str) -> None:
    offered = offer(kind, declare=declare)
    async with offered.client() as caller:
        for name in UNSENDABLE:
            assert "withheld" in text(await caller.call(name)), name
    assert await outcomes(offered.url) == ["bad_output"] * len(UNSENDABLE)


async def test_progress_that_is_no_number_leaves_the_call_and_its_record_whole(
    caplog: pytest.LogCaptureFixture,
) -> None:
    offered = offer("MCPServer", declare=declare)
    heard: list[Any] = []

    async def hear(*what: Any) -> None:
        heard.append(what)

    async with offered.client() as caller:
        for odd in ("nan", "huge", "text", "half"):
            result = await caller.call("told", {"done": odd}, progress_callback=hear)
            assert text(result) == "done"
    assert heard == [(1, 2, "?")]
    assert await outcomes(offered.url) == ["ok"] * 4
    assert [one.get("reached") for one in await lines(offered.url)][-1] == [1, 2]
    assert "told: skipped invalid progress nan of 2" in caplog.text


async def test_an_error_that_cannot_be_sent_is_told_as_far_as_it_can() -> None:
    def failing(tools: Tools, _: Studio) -> None:
        tools.add(
            name="said",
            intent=sayso.READ_ONLY,
            execute=executing(lambda ctx: ctx.error(f"no{HALF}")),
        )

    async with offer("MCPServer", declare=failing).client() as caller:
        result = await caller.call("said")
    assert result.is_error
    assert text(result) == "no?"


async def test_the_answer_of_a_handler_of_ones_own_is_looked_at_too() -> None:
    async def listed(_: Any, __: Any) -> Any:
        read = {"readOnlyHint": True, "openWorldHint": False}
        entry = {"name": "name_get", "inputSchema": {"type": "object"}, "annotations": read}
        return {"tools": [entry], "resultType": "complete", "ttlMs": 0, "cacheScope": "public"}

    async def call(_: Any, __: Any) -> Any:
        return {**block(structuredContent={"name": HALF}), "resultType": "complete"}

    server = Server[Any]("names", on_list_tools=listed, on_call_tool=call)
    offered = offer("Server", server=server, declare=lambda _tools, _studio: None)
    async with offered.client() as caller:
        assert "withheld" in text(await caller.call("name_get"))


async def test_an_object_is_what_it_says_in_both_blocks() -> None:
    def lying(tools: Tools, _: Studio) -> None:
        given = Lying(id=1, iban="DE-SECRET")
        tools.add(name="get", intent=sayso.READ_ONLY, execute=executing(lambda c: c.json(given)))

    async with offer("MCPServer", declare=lying).client() as caller:
        result = await caller.call("get")
    assert result.structured_content == {"id": 1}
    assert text(result) == '{"id": 1}'


def test_a_function_that_is_thrown_away_ends_without_a_word() -> None:
    ended: list[type[BaseException]] = []

    async def waiting() -> None:
        try:
            await _Forever()
        except BaseException as error:
            ended.append(type(error))
            raise

    call = called(waiting)
    call.send(None)
    call.close()
    assert ended == [GeneratorExit]


class _Forever:
    def __await__(self) -> Any:
        yield None


def main() -> None:
    """Serve on stdin and stdout."""
    offered = offer(sys.argv[1], Path(sys.argv[2]), declare)
    if sys.argv[1] != "Server":
        offered.server.run("stdio")
        return
    from mcp.server.stdio import stdio_server

    async def run() -> None:
        async with stdio_server() as (read, write):
            made = offered.server.create_initialization_options()
            await offered.server.run(read, write, made)

    anyio.run(run)


if __name__ == "__main__":
    main()
