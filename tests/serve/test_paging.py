"""Lists that are cut: whoever goes on with their cursors gets every item, exactly once."""

import base64
import json
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import mcp_types as types
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mcp import Client
from pydantic import BaseModel, Field
from tests.connect.serving import serve_app
from tests.gateway.serving import serve as serve_gateway
from tests.serve.serving import (
    ERAS,
    KINDS,
    YES,
    Caller,
    Studio,
    app_of,
    lines,
    make,
    offer,
    text,
)
from tests.tiers import examples
from typing_extensions import TypedDict

import sayso
from sayso.connect import UrlTarget
from sayso.policy import load_policy
from sayso.schema import LIMIT, size
from sayso.serve import Tools


class Line(BaseModel):
    """One of many."""

    number: int
    words: str


class Secret(Line):
    """An item with a field that no caller may see."""

    iban: str


class Lines(TypedDict):
    """A page in an author's own words."""

    lines: list[Line]
    next_cursor: str | None


@dataclass
class Shelf:
    """The lists of the tools, and a log of calls."""

    lines: list[Line] = field(default_factory=list[Line])
    pages_of: int = 7
    calls: list[Any] = field(default_factory=list[Any])

    def fill(self, lengths: list[int]) -> None:
        self.lines = [Line(number=n, words="x" * one) for n, one in enumerate(lengths)]
        self.calls.clear()

    def part(self, cursor: str | None) -> tuple[list[Line], str | None]:
        """A page by the author's own cursor."""
        self.calls.append(cursor)
        start = int(cursor.removeprefix("from-")) if cursor else 0
        end = start + self.pages_of
        return self.lines[start:end], f"from-{end}" if end < len(self.lines) else None

    def declare(self, tools: Tools, _: Studio) -> None:
        @tools.tool(sayso.QUERY)
        def plain(above: int = -1) -> list[Line]:
            """A list."""
            self.calls.append(above)
            return [one for one in self.lines if one.number > above]

        @tools.tool(sayso.QUERY)
        async def page() -> sayso.Page[Line]:
            """A list as one page."""
            return sayso.Page(self.lines, None, len(self.lines))

        @tools.tool(sayso.QUERY)
        def paged(cursor: str | None = None) -> sayso.Page[Line]:
            """A list in pages, by a cursor of the author's."""
            found, after = self.part(cursor)
            return sayso.Page(found, after, len(self.lines))

        @tools.tool(sayso.QUERY)
        def own(cursor: str = "") -> Lines:
            """Return the page in the author's own format."""
            found, after = self.part(cursor)
            return {"lines": found, "next_cursor": after}

        def as_data(_: sayso.Context, given: Any) -> Any:
            found, after = self.part(given.get("cursor"))
            return sayso.Page(found, after)

        tools.add(
            name="as_data",
            intent=sayso.QUERY,
            execute=as_data,
            input_schema={"type": "object", "properties": {"cursor": {"type": "string"}}},
        )


TOOLS = {"plain": "result", "page": "items", "paged": "items", "own": "lines", "as_data": "items"}


@asynccontextmanager
async def reaching(
    kind: str, registry: Shelf, folder: Path | None = None, **more: Any
) -> AsyncGenerator[Caller]:
    """A client of the registry's tools on one framework."""
    async with offer(kind, folder, declare=registry.declare, **more).client(answer=YES) as caller:
        yield caller


async def walk(caller: Caller, name: str, key: str, arguments: Any = None) -> list[int]:
    """The numbers of all lines, page by page; fails for a page that is too long or not agreed."""
    found: list[int] = []
    cursor: str | None = None
    for _ in range(200):
        more = {} if cursor is None else {"cursor": cursor}
        result = await caller.call(name, {**(arguments or {}), **more})
        assert not result.is_error, text(result)
        first, structured = result.content[0], result.structured_content
        assert isinstance(first, types.TextContent)
        assert structured is not None
        assert json.loads(first.text) == structured
        items = structured[key]
        assert size(structured) <= LIMIT or len(items) == 1
        found += [one["number"] for one in items]
        cursor = structured.get("next_cursor")
        if cursor is None:
            return found
        assert items
    raise AssertionError(f"{name} never ends")


@contextmanager
def served(kind: str, registry: Shelf) -> Generator[tuple[BlockingPortal, Caller]]:
    """One server for a test that hypothesis runs many times."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(reaching(kind, registry)) as caller,
    ):
        yield portal, caller


LENGTHS = st.lists(
    st.one_of(st.integers(0, 200), st.integers(2_000, 9_000), st.integers(24_500, 27_000)),
    max_size=25,
)


@pytest.mark.parametrize("kind", KINDS)
def test_every_item_is_found_exactly_once_and_in_its_order(kind: str) -> None:
    registry = Shelf()
    with served(kind, registry) as (portal, caller):

        @settings(max_examples=examples(40))
        @given(LENGTHS, st.integers(1, 12), st.sampled_from(sorted(TOOLS)))
        @example([0, 0, 24_850, 43], 1, "plain")
        @example([0, 0, 2_000, 2_000, 2_000, 6_601, 9_000, 25_001, 21], 1, "page")
        def found_once(lengths: list[int], pages_of: int, name: str) -> None:
            registry.pages_of = pages_of
            registry.fill(lengths)
            assert portal.call(walk, caller, name, TOOLS[name]) == list(range(len(lengths)))

        found_once()


@pytest.mark.anyio
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_over_http_in_both_eras_and_through_a_gateway(
    kind: str, era: str, tmp_path: Path
) -> None:
    registry = Shelf()
    registry.fill([3_000] * 30)
    server = offer(kind, tmp_path, declare=registry.declare).server
    async with (
        serve_app(app_of(server)) as base,
        Client(f"{base}/mcp", mode=era) as direct,
        serve_gateway(UrlTarget("shelf", f"{base}/mcp"), store=tmp_path / "g.db") as gateway,
        Client(gateway.url, mode=era) as behind,
    ):
        for client, prefix in ((direct, ""), (behind, "shelf__")):
            caller = Caller(client)
            for name, key in TOOLS.items():
                assert await walk(caller, f"{prefix}{name}", key) == list(range(30)), name


@pytest.mark.anyio
@pytest.mark.parametrize("kind", KINDS)
async def test_what_is_not_cut_is_given_at_once_and_as_before(kind: str) -> None:
    registry = Shelf()
    registry.fill([5, 5])
    async with reaching(kind, registry) as caller:
        result = await caller.call("plain")
    assert result.structured_content == {
        "result": [{"number": 0, "words": "xxxxx"}, {"number": 1, "words": "xxxxx"}]
    }
    assert len(result.content) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("kind", KINDS)
async def test_tools_that_read_lists_have_a_cursor_and_no_others_do(kind: str) -> None:
    def declare(tools: Tools, _: Studio) -> None:
        def numbers() -> list[int]:
            return [1]

        def pair() -> tuple[int, int]:
            return 1, 2

        def many() -> Annotated[list[int], Field(min_length=2)]:
            return [1, 2]

        def one() -> Line:
            return Line(number=1, words="")

        def none() -> str:
            return "text"

        tools.tool(sayso.QUERY, name="reads")(numbers)
        tools.tool(sayso.APPEND, name="writes")(numbers)
        tools.tool(name="says_nothing")(numbers)
        for function in (pair, many, one, none):
            tools.tool(sayso.QUERY)(function)

    async with offer(kind, declare=declare).client() as caller:
        listed = {one.name: one for one in (await caller.client.list_tools()).tools}
        assert (await caller.call("reads", {"cursor": None})).structured_content == {"result": [1]}
        unknown = await caller.call("writes", {"cursor": None})
    have = {name for name, one in listed.items() if "cursor" in one.input_schema["properties"]}
    told = {
        name
        for name, one in listed.items()
        if one.output_schema and "next_cursor" in one.output_schema["properties"]
    }
    assert have == told == {"reads"}
    assert listed["reads"].input_schema.get("required", []) == []
    assert "next_cursor" not in listed["reads"].output_schema["required"]
    assert unknown.is_error


@pytest.mark.anyio
@pytest.mark.parametrize("kind", KINDS)
async def test_the_function_never_gets_a_cursor_that_is_saysos(kind: str, tmp_path: Path) -> None:
    registry = Shelf()
    registry.fill([5_000] * 20)
    async with reaching(kind, registry, tmp_path) as caller:
        await walk(caller, "paged", "items")
    asked = [one["arguments"] for one in await lines(f"sqlite:{tmp_path / 'sayso.db'}")]
    assert set(registry.calls) == {None, "from-7", "from-14"}
    # The record has the calls as they were made.
    assert any(str(one.get("cursor")).startswith("sayso.") for one in asked)


async def first_cursor(caller: Caller, name: str, arguments: Any = None) -> str:
    result = await caller.call(name, arguments)
    assert result.structured_content is not None
    return result.structured_content["next_cursor"]


@pytest.mark.anyio
@pytest.mark.parametrize("kind", KINDS)
async def test_a_cursor_of_another_call_is_refused(kind: str) -> None:
    registry = Shelf()
    registry.fill([3_000] * 20)
    async with reaching(kind, registry) as caller:
        cursor = await first_cursor(caller, "plain", {"above": 2})
        registry.calls.clear()
        for name, arguments in (("plain", {}), ("plain", {"above": 3}), ("page", {})):
            result = await caller.call(name, {**arguments, "cursor": cursor})
            assert result.is_error
            assert text(result).startswith("This cursor belongs to another call.")
    assert registry.calls == []


Change = Callable[[list[Line]], list[Line]]
CHANGES: dict[str, tuple[Change, bool]] = {
    "one more at the end": (lambda seen: [*seen, Line(number=99, words="")], True),
    "one less at the end": (lambda seen: seen[:-1], True),
    "another at the end": (lambda seen: [*seen[:-1], Line(number=99, words="")], True),
    "one more at the beginning": (lambda seen: [Line(number=99, words=""), *seen], False),
    "one less at the beginning": (lambda seen: seen[1:], False),
    "another in between": (lambda s: [s[0], Line(number=99, words=""), *s[2:]], False),
    "another order": (lambda seen: [seen[1], seen[0], *seen[2:]], False),
    "none left": (lambda _: [], False),
}


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["plain", "page", "as_data"])
@pytest.mark.parametrize("change", CHANGES)
async def test_a_list_that_changed_before_that_place_is_refused_and_not_guessed_at(
    change: str, name: str
) -> None:
    registry = Shelf(pages_of=100)
    registry.fill([3_000] * 20)
    make_other, is_good = CHANGES[change]
    async with reaching("MCPServer", registry) as caller:
        cursor = await first_cursor(caller, name)
        seen = 8
        registry.lines = make_other(registry.lines)
        result = await caller.call(name, {"cursor": cursor})
    if is_good:
        assert result.structured_content is not None
        (first, *_) = result.structured_content[TOOLS[name]]
        assert first["number"] == seen
    else:
        assert result.is_error
        assert text(result).startswith(
            "The list has changed since the last page. Make the call without"
        )
        assert result.structured_content is None


def sealed(*parts: Any) -> str:
    return "sayso." + base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


def opened(cursor: str) -> list[Any]:
    raw = cursor.removeprefix("sayso.")
    return json.loads(base64.urlsafe_b64decode(raw + "=" * (-len(raw) % 4)))


BAD = [
    *("sayso.", "sayso.é", "sayso.!!", "sayso.\ud800", "sayso.bnVsbA", "sayso." + "W" * 5000),
    *(sealed(), sealed(1), sealed(1, "a"), sealed("1", "a", "b"), sealed(0, "a", "b")),
    *(sealed(-1, "a", "b"), sealed(1, 2, 3), sealed(1, "a", "b", None, None), sealed({})),
    sealed(1.5, "a", "b"),
]


@pytest.mark.anyio
@pytest.mark.parametrize("kind", KINDS)
async def test_what_is_no_cursor_runs_nothing(kind: str) -> None:
    registry = Shelf()
    registry.fill([5])
    async with reaching(kind, registry) as caller:
        for cursor in BAD[:3] + BAD[4:]:
            for name in ("plain", "paged"):
                result = await caller.call(name, {"cursor": cursor})
                assert result.is_error, cursor
                assert text(result).startswith("This cursor is invalid."), cursor
        assert text(await caller.call("plain", {"cursor": "2"})).startswith(
            "This cursor is invalid"
        )
    assert registry.calls == []


@pytest.mark.anyio
async def test_a_cursor_cannot_bring_what_the_schema_would_refuse() -> None:
    registry = Shelf(pages_of=100)
    registry.fill([3_000] * 20)
    async with reaching("MCPServer", registry) as caller:
        given, made_for, seen = opened(await first_cursor(caller, "as_data"))
        ours = opened(await first_cursor(caller, "plain"))
        registry.calls.clear()
        for forged in ({"a": 1}, 7, None, ["x"]):
            cursor = sealed(given, made_for, seen, forged)
            result = await caller.call("as_data", {"cursor": cursor})
            assert text(result).startswith("This cursor is invalid.")
        result = await caller.call("plain", {"cursor": sealed(*ours, "from-7")})
        assert text(result).startswith("This cursor is invalid.")
        skips = await caller.call("as_data", {"cursor": sealed(given + 1, made_for, seen)})
    assert text(skips).startswith("The list has changed since the last page.")
    assert registry.calls == [None]


@pytest.mark.anyio
async def test_a_cursor_tells_nothing_of_what_its_caller_has_not_seen() -> None:
    """Two lists that differ only in what the schema drops have one cursor."""
    made: list[str] = []
    for iban in ("DE1", "DE2"):

        def declare(tools: Tools, _: Studio, iban: str = iban) -> None:
            @tools.tool(sayso.QUERY)
            def secrets() -> list[Line]:
                return [Secret(number=n, words="x" * 3_000, iban=iban) for n in range(20)]

        async with offer("MCPServer", declare=declare).client() as caller:
            cursor = await first_cursor(caller, "secrets")
            again = await caller.call("secrets", {"cursor": cursor})
            made += [cursor, await first_cursor(caller, "secrets", {"cursor": cursor})]
            assert iban not in json.dumps(again.structured_content)
    assert made[:2] == made[2:]


@pytest.mark.anyio
@pytest.mark.parametrize("kind", KINDS)
async def test_what_writes_is_cut_without_a_cursor_and_not_called_again(kind: str) -> None:
    ran: list[str] = []

    def declare(tools: Tools, _: Studio) -> None:
        @tools.tool(sayso.APPEND)
        def written(cursor: str | None = None) -> sayso.Page[str]:
            ran.append(str(cursor))
            return sayso.Page(["x" * 3_000] * 20, "two")

    async with offer(kind, declare=declare).client() as caller:
        result = await caller.call("written")
    assert result.structured_content is not None
    assert result.structured_content["next_cursor"] is None
    assert "the other 12 are left out. “next_cursor” would have skipped them" in text(result)
    assert ran == ["None"]


@pytest.mark.anyio
async def test_where_the_operator_says_that_it_writes_it_gets_no_cursor() -> None:
    registry = Shelf()
    registry.fill([3_000] * 20)
    policy = load_policy("[operator.studio.plain]\nread_only = false\ndestructive = false\n")
    async with reaching("MCPServer", registry, policy=policy) as caller:
        result = await caller.call("plain")
    assert result.structured_content is not None
    assert "next_cursor" not in result.structured_content
    assert "are left out" in text(result)


@pytest.mark.anyio
@pytest.mark.parametrize("kind", KINDS)
async def test_a_cursor_that_takes_no_text_cannot_go_on_and_says_so(kind: str) -> None:
    def declare(tools: Tools, _: Studio) -> None:
        @tools.tool(sayso.QUERY)
        def numbered(cursor: int = 0) -> sayso.Page[str]:
            return sayso.Page(["x" * 3_000] * 20, str(cursor + 20))

    async with offer(kind, declare=declare).client() as caller:
        result = await caller.call("numbered")
    assert result.structured_content is not None
    assert result.structured_content["next_cursor"] is None
    assert "“next_cursor” would have skipped them and is removed." in text(result)


@pytest.mark.anyio
@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP"])
async def test_a_page_of_a_tool_that_is_declared_where_it_is_registered_goes_on_too(
    kind: str,
) -> None:
    server, registry = make(kind), Shelf()
    registry.fill([3_000] * 20)

    @server.tool()
    @sayso.declare(sayso.QUERY)
    def registered(cursor: str | None = None) -> sayso.Page[Line]:
        found, after = registry.part(cursor)
        return sayso.Page(found, after)

    offered = offer(kind, server=server, declare=lambda _tools, _studio: None)
    async with offered.client() as caller:
        assert await walk(caller, "registered", "items") == list(range(20))


@pytest.mark.anyio
async def test_a_tool_that_fails_or_gives_no_list_later_is_told_of() -> None:
    given: list[Any] = [["x" * 3_000] * 20]

    def declare(tools: Tools, _: Studio) -> None:
        def execute(ctx: sayso.Context, _: Any) -> Any:
            return ctx.error("it is away") if given[0] is None else given[0]

        schema = {"type": "object", "properties": {"cursor": {"type": "string"}}}
        tools.add(name="moody", intent=sayso.QUERY, execute=execute, input_schema=schema)

    async with offer("MCPServer", declare=declare).client() as caller:
        cursor = await first_cursor(caller, "moody")
        given[0] = {"a": 1}
        changed = await caller.call("moody", {"cursor": cursor})
        given[0] = None
        failed = await caller.call("moody", {"cursor": cursor})
    assert text(changed).startswith("The tool no longer returns this list.")
    assert text(failed) == "it is away"
