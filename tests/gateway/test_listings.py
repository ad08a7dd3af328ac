"""Rendered tool lists: made once, the same as before, and each caller's own."""

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.connect.serving import faulty, raw_client
from tests.gateway.serving import Served, serve

from sayso.catalog import Tool
from sayso.gateway import listings, make_dispatcher
from sayso.gateway.request import Request
from sayso.gateway.router import Router
from sayso.gateway.versions import FIELDS_SINCE
from sayso.guard.call import no_progress
from sayso.policy import Policy, Principal, Rule, load_policy
from sayso.policy.conditions import Condition

pytestmark = pytest.mark.anyio

VERSIONS = ["2026-07-28", "2025-06-18"]
HIDDEN = """
[[rules]]
name = "staff"
effect = "hide"
when = { tool = "get_*" }
unless = { role = "staff" }
"""
AMY = Principal("amy", "chat", frozenset(), frozenset({"staff"}))


@dataclass
class Place:
    """A gateway whose policy a test changes, and how many entries were rendered."""

    served: Served
    router: Router
    rules: list[Policy]
    rendered: list[str]

    async def raw(self, principal: Principal, version: str = VERSIONS[0]) -> msgspec.Raw:
        request = Request("tools/list", {}, version, principal, no_progress)
        result = await self.router.list_tools(request)
        return result["tools"]

    async def names(self, principal: Principal, version: str = VERSIONS[0]) -> set[str]:
        return {entry["name"] for entry in json.loads(bytes(await self.raw(principal, version)))}


@pytest.fixture
async def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Place]:
    rules = [Policy()]
    rendered: list[str] = []
    listing = Tool.listing

    def counted(self: Tool, version: str) -> dict[str, Any]:
        rendered.append(self.name)
        return listing(self, version)

    monkeypatch.setattr(Tool, "listing", counted)
    targets = [faulty("plain", "one"), faulty("plain", "two")]
    async with serve(*targets, store=tmp_path / "a.db", policy=lambda: rules[-1]) as served:
        yield Place(served, make_dispatcher(served.gateway).router, rules, rendered)


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_list_is_rendered_once_and_is_the_same_afterwards(
    place: Place, version: str
) -> None:
    first = await place.raw(AMY, version)
    entries = json.loads(bytes(first))
    assert len(entries) == len(place.rendered) > 2
    catalog = await place.router.upstreams.of(AMY).catalog()
    seen = [place.served.gateway.guard.sees(AMY, tool) for tool in catalog.tools.values()]
    assert entries == [one[0].listing(version) for one in seen if one is not None]
    place.rendered.clear()
    assert await place.raw(AMY, version) is first
    # Callers who see the same share what was rendered.
    assert await place.raw(replace(AMY, subject="bob"), version) is first
    assert place.rendered == []


async def test_each_era_gets_its_own_form(place: Place) -> None:
    modern, older = [await place.raw(AMY, version) for version in VERSIONS]
    assert await place.raw(AMY, VERSIONS[0]) is modern
    assert await place.raw(AMY, VERSIONS[1]) is older


@pytest.mark.parametrize(
    "other",
    [
        replace(AMY, roles=frozenset()),
        replace(AMY, subject="bob", roles=frozenset()),
        replace(AMY, roles=frozenset({"guest"})),
    ],
)
async def test_nobody_is_given_the_list_of_somebody_else(place: Place, other: Principal) -> None:
    place.rules.append(load_policy(HIDDEN))
    for _ in range(2):
        assert {name for name in await place.names(AMY) if "__get_" in name}
        assert not {name for name in await place.names(other) if "__get_" in name}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("subject", "bob"),
        ("client", "other"),
        ("scopes", frozenset({"x"})),
        ("roles", frozenset({"guest"})),
        ("is_local", True),
    ],
)
async def test_whatever_differs_in_a_caller_it_is_looked_at_anew(
    place: Place, monkeypatch: pytest.MonkeyPatch, field: str, value: Any
) -> None:
    await place.raw(AMY)
    looked: list[Principal] = []
    sees = type(place.router.guard).sees

    def watched(self: Any, principal: Principal, *rest: Any) -> Any:
        looked.append(principal)
        return sees(self, principal, *rest)

    monkeypatch.setattr(type(place.router.guard), "sees", watched)
    await place.raw(AMY)
    assert looked == []
    other = replace(AMY, **{field: value})
    await place.raw(other)
    assert {*looked} == {other}


async def test_a_new_policy_counts_with_the_next_list(place: Place) -> None:
    bob = Principal("bob", "chat", frozenset())
    before = await place.names(bob)
    place.rules.append(load_policy(HIDDEN))
    after = await place.names(bob)
    assert after < before
    place.rules.append(load_policy('[off]\nservers = ["one"]'))
    assert {name.partition("__")[0] for name in await place.names(bob)} == {"two"}
    place.rules.append(load_policy('tools = "search"'))
    assert "search_tools" in await place.names(bob)


async def test_hints_that_a_new_policy_changes_are_in_the_next_list(place: Place) -> None:
    entries = json.loads(bytes(await place.raw(AMY)))
    name = next(one["name"] for one in entries if one["annotations"]["destructiveHint"])
    tool = name.partition("__")[2]
    words = f'[operator.one]\n"{tool}" = {{ read_only = true, destructive = false }}'
    place.rules.append(load_policy(words))
    found = json.loads(bytes(await place.raw(AMY)))
    changed = next(one for one in found if one["name"] == f"one__{tool}")
    assert changed["annotations"]["readOnlyHint"]


async def test_a_rule_that_may_depend_on_anything_is_asked_for_each_list(place: Place) -> None:
    answers = [False, True]
    condition = Condition("k", "w", lambda _: answers[-1], lambda _: "a")
    rule = Rule("r", "hide", "why", 0, when=(condition,))  # pyright: ignore[reportArgumentType] - converted
    place.rules.append(Policy(rules=(rule,)))
    assert await place.names(AMY) == set()
    answers.append(False)
    assert await place.names(AMY)


async def test_a_tool_that_changes_is_in_the_next_list(place: Place) -> None:
    first = await place.raw(AMY)
    upstream = place.served.gateway.upstreams.upstreams[0]
    upstream._tool_cache.look_again()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - as after a quarantine
    catalog = await place.router.upstreams.of(AMY).catalog()
    again = await place.raw(AMY)
    assert bytes(again) == bytes(first)
    assert await place.router.upstreams.of(AMY).catalog() is catalog


async def test_what_is_kept_is_bounded(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listings, "MAX_CALLERS", 3)
    size = len(await place.raw(AMY))
    monkeypatch.setattr(listings, "MAX_BYTES", size + 1)
    kept = place.router.listings
    for number in range(8):
        for version in VERSIONS:
            assert await place.names(replace(AMY, client=f"client{number}"), version)
            assert len(kept._of_callers) <= 3  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
            assert sum(len(raw) for _, raw in kept._of_tools.values()) <= size + 1  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


async def test_callers_of_shared_servers_share_one_catalog(place: Place) -> None:
    catalogs = [
        await place.router.upstreams.of(replace(AMY, client=f"client{n}")).catalog()
        for n in range(100)
    ]
    assert len({id(one) for one in catalogs}) == 1


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_a_client_of_each_version_gets_the_tools_with_the_fields_that_it_knows(
    version: str, tmp_path: Path
) -> None:
    async with (
        serve(faulty("plain", "s"), store=tmp_path / "a.db") as served,
        raw_client(served.url, version) as client,
    ):
        tools = (await client.result("tools/list"))["tools"]
    assert "s__get_echo" in {tool["name"] for tool in tools}
    newer = {field for field, since in FIELDS_SINCE["tool"].items() if since > version}
    assert not [tool for tool in tools if newer & tool.keys()]
