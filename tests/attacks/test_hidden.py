"""A tool that a caller may not know of: not by an error, a list, a message or the time."""

import json
import statistics
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from tests.access.authority import Authority
from tests.attacks.serving import ERAS, Place, behind_access
from tests.connect.servers.web import MODERN, TOOLS, Exchange, Site
from tests.connect.serving import RawClient

from avow.connect import UrlTarget
from avow.policy import load_policy

pytestmark = pytest.mark.anyio

HIDDEN = {
    "name": "get_salaries",
    "description": "What everybody earns.",
    "inputSchema": {"type": "object", "properties": {"year": {"type": "integer"}}},
    "annotations": {"readOnlyHint": True},
}
BROKEN = {"name": "delete_salaries", "inputSchema": "none"}
POLICY = load_policy(
    '[[rules]]\nname = "salaries"\neffect = "hide"\n'
    'when = { tool = ["get_salaries", "delete_salaries"] }\nunless = { scope = "hr" }\n'
)
ABSENT = "web__get_nothings"
"""As long as the hidden one, so that the sizes of answers are alike too."""

WORD = "salaries"


def listed(exchange: Exchange) -> None:
    exchange.result({"tools": [*TOOLS, HIDDEN, HIDDEN, BROKEN]})


@pytest.fixture
async def place(authority: Authority, site: Site, tmp_path: Path) -> AsyncGenerator[Place]:
    site.faults["tools_list"] = listed
    target = UrlTarget("web", site.url)
    store = tmp_path / "a.db"
    async with behind_access(authority, target, store=store, policy=lambda: POLICY) as running:
        yield running


def without_name(message: dict[str, Any], name: str) -> str:
    return json.dumps(message).replace(name, "(name)")


def asked(name: str) -> list[tuple[str, dict[str, Any]]]:
    """All that one may ask about a tool."""
    return [
        ("tools/call", {"name": name, "arguments": {}}),
        ("tools/call", {"name": name, "arguments": {"year": "none"}}),
        ("tools/call", {"name": name, "arguments": {"year": 1}, "_meta": {"progressToken": 1}}),
        ("tools/call", {"name": name, "inputResponses": {}, "requestState": "x"}),
        ("prompts/get", {"name": name}),
        ("resources/read", {"uri": name}),
        (
            "completion/complete",
            {
                "ref": {"type": "ref/prompt", "name": name},
                "argument": {"name": "year", "value": ""},
            },
        ),
        (
            "completion/complete",
            {"ref": {"type": "ref/tool", "name": name}, "argument": {"name": "year", "value": ""}},
        ),
        ("tools/get", {"name": name}),
    ]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("path", ["/mcp", "/servers/web/mcp"])
async def test_a_hidden_tool_is_answered_about_as_one_that_is_not_there(
    place: Place, site: Site, era: str, path: str
) -> None:
    names = ("web__get_salaries", ABSENT)
    if path != "/mcp":
        names = ("get_salaries", ABSENT.removeprefix("web__"))
    async with place.client(era, place.token(), path) as client:
        both = [[await client.messages(*one) for one in asked(name)] for name in names]
    for hidden, absent in zip(*both, strict=True):
        assert [without_name(one, names[0]) for one in hidden] == [
            without_name(one, names[1]) for one in absent
        ]
        assert len(hidden) == 1
        assert "error" in hidden[0]
    assert not site.asked("tools/call")


@pytest.mark.parametrize("era", ERAS)
async def test_no_list_tells_of_a_hidden_tool_whatever_its_cursor(place: Place, era: str) -> None:
    async with place.client(era, place.token()) as client:
        for params in ({}, {"cursor": "1"}, {"cursor": "web__get_salaries"}, {"cursor": ""}):
            for kind in ("tools", "prompts", "resources"):
                assert WORD not in json.dumps(await client.messages(f"{kind}/list", params))
    async with place.client(era, place.token(scope="hr")) as client:
        assert WORD in json.dumps(await client.messages("tools/list"))


async def test_a_problem_with_a_hidden_tool_is_told_only_to_who_has_no_limits(
    place: Place,
) -> None:
    async with place.client(MODERN, place.token()) as client:
        found = await client.result("tools/list")
    assert found["_meta"]["io.avow/problems"] == ["some servers or tools cannot be had just now"]


async def test_a_session_that_is_told_of_progress_hears_nothing_of_others_calls(
    place: Place, site: Site
) -> None:
    async with (
        place.client("2025-11-25", place.token("amy")) as amy,
        place.client("2025-11-25", place.token("hal", "hr")) as hal,
    ):
        params: dict[str, Any] = {"name": "web__get_salaries", "arguments": {}}
        meta = {"_meta": {"progressToken": 1}}
        assert "result" in (await hal.messages("tools/call", {**params, **meta}))[-1]
        messages = await amy.messages("tools/list", meta)
        assert len(messages) == 1
        assert WORD not in json.dumps(messages)
    assert len(site.asked("tools/call")) == 1


ROUNDS = 60


async def test_the_time_of_an_answer_does_not_tell_a_hidden_tool_from_none(place: Place) -> None:
    """Medians of interleaved calls: apart by less than what tells one call from the next."""
    names = ("web__get_salaries", ABSENT)
    async with place.client(MODERN, place.token()) as client:
        for name in names * 10:
            await timed(client, name)
        pairs = [
            [await timed(client, name) for name in (names if turn % 2 else names[::-1])]
            for turn in range(ROUNDS)
        ]
    hidden = [pair[0 if turn % 2 else 1] for turn, pair in enumerate(pairs)]
    absent = [pair[1 if turn % 2 else 0] for turn, pair in enumerate(pairs)]
    apart = abs(statistics.median(hidden) - statistics.median(absent))
    low, _, high = statistics.quantiles([*hidden, *absent], n=4)
    assert apart < (high - low) / 2


async def timed(client: RawClient, name: str) -> float:
    begun = time.perf_counter()
    answer = await client.ask("tools/call", {"name": name, "arguments": {}})
    assert "error" in answer
    return time.perf_counter() - begun
