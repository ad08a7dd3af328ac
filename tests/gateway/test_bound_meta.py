"""The gateway sends exactly the approved call: its `_meta`, and numbers of the same kind."""

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from tests.connect.servers.web import MODERN, OLD, Site, serve_web
from tests.connect.serving import RawClient, raw_client
from tests.gateway.serving import Served, serve

from sayso.approvals import Answer
from sayso.connect import UrlTarget
from sayso.policy import load_policy

pytestmark = pytest.mark.anyio

STRICT = load_policy('mode = "strict"\n')
FORWARDS = load_policy('mode = "strict"\nforward_meta = ["tenant"]\n')
NOTE = "web__add_note"
TRACE = {
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "tracestate": "a=1",
}


@pytest.fixture(params=[MODERN, OLD])
def site(request: pytest.FixtureRequest) -> Generator[Site]:
    with serve_web(request.param) as site:
        yield site


async def note(client: RawClient, arguments: Any, **meta: Any) -> dict[str, Any]:
    return await client.result("tools/call", {"name": NOTE, "arguments": arguments, "_meta": meta})


async def approve(served: Served, number: int) -> None:
    yes = Answer(is_allowed=True, by="console", channel="console")
    assert await served.gateway.guard.approvals.answer(number, yes)


def sent(site: Site) -> list[dict[str, Any]]:
    return [call.body["params"] for call in site.asked("tools/call")]


async def test_keys_of_meta_that_no_policy_names_are_dropped(site: Site, tmp_path: Path) -> None:
    odd = {"fastmcp": {"version": "1.0"}, "tenant": "x", "baggage": "tenant=x", "com.acme/a": 1}
    wrong = {"io.modelcontextprotocol/logLevel": {"tenant": "x"}}
    target = UrlTarget("web", site.url)
    async with (
        serve(target, store=tmp_path / "a.db", policy=lambda: STRICT, patience=0) as served,
        raw_client(served.url, OLD) as client,
    ):
        await note(client, {}, **odd, **TRACE)
        await approve(served, 1)
        await note(client, {}, **odd, **wrong, **TRACE)
    (params,) = sent(site)
    own = {key: value for key, value in params["_meta"].items() if key in {*odd, *TRACE, *wrong}}
    assert own == TRACE


async def test_a_forwarded_key_is_bound_shown_and_recorded(site: Site, tmp_path: Path) -> None:
    target = UrlTarget("web", site.url)
    async with (
        serve(target, store=tmp_path / "a.db", policy=lambda: FORWARDS, patience=0) as served,
        raw_client(served.url, OLD) as client,
    ):
        await note(client, {}, tenant="test-sandbox")
        question = (await served.gateway.guard.approvals.newest())[0].question
        assert question.extras == {"_meta": {"tenant": "test-sandbox"}}
        await approve(served, 1)
        await note(client, {}, tenant="PRODUCTION")
        await note(client, {})
        assert sent(site) == []
        await note(client, {}, tenant="test-sandbox")
        rows = await served.gateway.guard.audit.newest()
    (params,) = sent(site)
    assert params["_meta"]["tenant"] == "test-sandbox"
    attempt = next(json.loads(row.body) for row in rows if row.event == "attempt")
    assert attempt["extras"] == {"_meta": {"tenant": "test-sandbox"}}


@pytest.mark.parametrize(
    ("approved", "other"),
    [
        ("1", "1.0"),
        ("0", "-0.0"),
        ("0.0", "-0.0"),
        ("10000000000000000", "1e16"),
        ("100", "1E2"),
        ("18446744073709551616", "1.8446744073709552e19"),
        ("[1]", "[1.0]"),
        ('{"n":1}', '{"n":1.0}'),
    ],
)
async def test_a_number_of_another_kind_is_not_what_was_approved(
    approved: str, other: str, tmp_path: Path
) -> None:
    with serve_web(MODERN) as site:
        target = UrlTarget("web", site.url)
        async with (
            serve(target, store=tmp_path / "a.db", policy=lambda: STRICT, patience=0) as served,
            raw_client(served.url, OLD) as client,
        ):
            await note(client, {"n": json.loads(approved)})
            await approve(served, 1)
            await note(client, {"n": json.loads(other)})
            assert sent(site) == []
            await note(client, {"n": json.loads(approved)})
        (params,) = sent(site)
        assert json.dumps(params["arguments"]["n"]) == json.dumps(json.loads(approved))


async def test_rules_see_forwarded_keys(site: Site, tmp_path: Path) -> None:
    rule = """
    forward_meta = ["tenant"]
    [[rules]]
    name = "production"
    effect = "deny"
    when = { meta.tenant = { glob = "PROD*" } }
    """
    target = UrlTarget("web", site.url)
    policy = load_policy(rule)
    async with (
        serve(target, store=tmp_path / "a.db", policy=lambda: policy) as served,
        raw_client(served.url, OLD) as client,
    ):
        denied = await note(client, {}, tenant="PRODUCTION")
        await note(client, {}, tenant="test")
    assert denied["isError"] is True
    assert len(sent(site)) == 1
