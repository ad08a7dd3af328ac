"""A tool that a caller may not know of: not by an error, a list, a message or the time."""

import json
import math
import time
from collections.abc import AsyncGenerator, Sequence
from itertools import pairwise
from typing import Any

import pytest
from tests.access.authority import Authority
from tests.attacks.serving import ERAS, Place, behind_access
from tests.connect.servers.web import MODERN, TOOLS, Exchange, Site
from tests.connect.serving import RawClient

from sayso.connect import UrlTarget
from sayso.policy import load_policy

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
async def place(authority: Authority, site: Site, store: str) -> AsyncGenerator[Place]:
    site.faults["tools_list"] = listed
    target = UrlTarget("web", site.url)
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
    assert found["_meta"]["io.sayso/problems"] == ["some servers or tools are unavailable"]


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


def can_tell(pairs: Sequence[tuple[float, float]]) -> bool:
    """Whether one of two is slower so often that chance does not explain it (five sigma).

    Only which of a pair is slower counts, so that a busy machine adds doubt and no mistake.
    """
    slower = sum(one > other for one, other in pairs)
    return abs(slower - len(pairs) / 2) > 5 * math.sqrt(len(pairs)) / 2


def test_a_steady_difference_in_time_can_be_told_and_noise_cannot() -> None:
    noise = [(turn * 37 % 11) / 1000 for turn in range(ROUNDS)]
    assert can_tell([(one + 0.011, other) for one, other in pairwise(noise)])
    assert not can_tell([*pairwise(noise), *pairwise(noise[::-1])])


async def test_the_time_of_an_answer_does_not_tell_a_hidden_tool_from_none(place: Place) -> None:
    hidden, absent = "web__get_salaries", ABSENT
    pairs: list[tuple[float, float]] = []
    async with place.client(MODERN, place.token()) as client:
        for _ in range(ROUNDS // 2):
            first = await timed(client, hidden), await timed(client, absent)
            other, one = await timed(client, absent), await timed(client, hidden)
            pairs += [first, (one, other)]
    assert not can_tell(pairs[2:])


async def timed(client: RawClient, name: str) -> float:
    begun = time.perf_counter()
    answer = await client.ask("tools/call", {"name": name, "arguments": {}})
    assert "error" in answer
    return time.perf_counter() - begun
