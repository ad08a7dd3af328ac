from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.server import MCPServer
from mcp.shared.exceptions import MCPError
from tests.agents.serving import events
from tests.connect.serving import serve_app
from tests.testing.servers import GIT, KINDS, READ, bound, plain

import sayso
from sayso.errors import UsageError
from sayso.policy import load_policy
from sayso.testing import Approver, ClientFactory, read_surface

AMY = sayso.Principal("amy", scopes=frozenset({"crm.read", "crm.write"}))
BEN = sayso.Principal("ben", scopes=frozenset({"crm.read"}))
DELETE = ("customer_delete", {"customer_id": 12})


def text(result: Any) -> str:
    return result.content[0].text


async def names(client: Any) -> list[str]:
    return [one.name for one in (await client.list_tools()).tools]


@pytest.mark.parametrize("kind", KINDS)
async def test_each_client_sees_and_calls_as_its_own_principal(
    sayso_client: ClientFactory, approver: Approver, kind: str
) -> None:
    server = bound(kind)
    approver.allow("customer_delete")
    async with (
        sayso_client(server, principal=AMY, approver=approver) as amy,
        sayso_client(server, principal=BEN) as ben,
        sayso_client(server) as nobody,
    ):
        assert await names(amy) == ["customers_list", "customer_delete"]
        assert await names(ben) == ["customers_list"]
        assert await names(nobody) == []
        assert text(await amy.call_tool(*DELETE)) == "deleted Ben for amy"
        with pytest.raises(MCPError, match="Unknown tool"):
            await ben.call_tool(*DELETE)


@pytest.mark.parametrize("kind", KINDS)
async def test_scopes_that_nobody_holds_are_told_of_only_where_the_test_names_no_caller(
    sayso_client: ClientFactory, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    server = bound(kind)
    await read_surface(server)
    async with sayso_client(server, principal=BEN) as ben:
        assert await names(ben) == ["customers_list"]
    assert [one for one in caplog.records if one.levelname == "WARNING"] == []
    async with sayso_client(server) as nobody:
        assert await names(nobody) == []
    assert "visible only to calls with a token" in caplog.text


async def test_every_question_is_remembered(
    sayso_client: ClientFactory, approver: Approver
) -> None:
    approver.allow()
    async with sayso_client(bound(), principal=AMY, approver=approver) as client:
        await client.call_tool("customers_list", {})
        await client.call_tool(*DELETE)
    assert [one.tool for one in approver.asked] == ["customer_delete"]
    assert approver.asked[0].arguments == {"customer_id": 12}
    assert approver.asked[0].confirm == "Delete customer 12?"


async def test_a_denial_says_so_with_its_message(
    sayso_client: ClientFactory, approver: Approver
) -> None:
    approver.allow().deny("customer_delete", message="Ask Cem first.")
    async with sayso_client(bound(), principal=AMY, approver=approver) as client:
        result = await client.call_tool(*DELETE)
    assert result.is_error
    assert "Ask Cem first." in text(result)


async def test_silence_ends_in_a_call_that_waits_and_runs_once_answered(
    sayso_client: ClientFactory, approver: Approver
) -> None:
    approver.silent("customer_delete")
    async with sayso_client(bound(), principal=AMY, approver=approver, patience=0.2) as client:
        assert text(await client.call_tool(*DELETE)).startswith("Not run yet")
        approver.allow("customer_delete")
        assert text(await client.call_tool(*DELETE)) == "deleted Ben for amy"
    assert len(approver.asked) == 1


async def test_without_an_approver_there_is_nobody_to_ask(sayso_client: ClientFactory) -> None:
    async with sayso_client(bound(console="https://example.com"), principal=AMY) as client:
        assert "no person can be asked" in text(await client.call_tool(*DELETE))


async def test_the_mode_is_of_the_tests_choice(sayso_client: ClientFactory) -> None:
    async with sayso_client(bound(), principal=AMY, mode="observe") as client:
        assert text(await client.call_tool(*DELETE)) == "deleted Ben for amy"
    async with sayso_client(bound(), principal=AMY, mode="plan") as client:
        assert "only reads run while planning" in text(await client.call_tool(*DELETE))


async def test_a_servers_own_policy_holds_unless_the_test_brings_one(
    sayso_client: ClientFactory, approver: Approver
) -> None:
    policy = load_policy(
        '[approvals]\nchannels = ["link"]\n'
        '[[rules]]\nname = "none"\neffect = "hide"\nwhen = { tool = "customers_list" }\n'
    )
    server = bound(policy=policy)
    approver.allow()
    async with sayso_client(server, principal=AMY, approver=approver) as client:
        assert await names(client) == ["customer_delete"]
        assert text(await client.call_tool(*DELETE)) == "deleted Ben for amy"
    async with sayso_client(server, principal=AMY, policy=load_policy("")) as client:
        assert await names(client) == ["customers_list", "customer_delete"]


async def test_a_server_without_sayso_gets_a_guard_around_the_client(
    sayso_client: ClientFactory, approver: Approver
) -> None:
    meta = {"io.sayso/intent": {"scopes": ["crm.write"]}}
    server = plain({"name": "customer_delete", "_meta": meta}, {"name": "a", "annotations": READ})
    approver.allow()
    async with sayso_client(server, principal=AMY, approver=approver) as client:
        assert text(await client.call_tool(*DELETE)) == "done"
    async with sayso_client(server, principal=BEN) as client:
        assert await names(client) == ["a"]
    assert [one.subject for one in approver.asked] == ["amy"]


@pytest.mark.process
async def test_a_command_is_a_server_too(
    sayso_client: ClientFactory, approver: Approver, repository: Path
) -> None:
    approver.deny("git_reset")
    where = {"repo_path": str(repository)}
    async with sayso_client([GIT], approver=approver) as client:
        assert "main" in text(await client.call_tool("git_status", where))
        assert "A person denied this call" in text(await client.call_tool("git_reset", where))


async def test_the_record_is_in_the_store_of_the_test(
    sayso_client: ClientFactory, sayso_store: str, tmp_path: Path
) -> None:
    server = bound(store=f"sqlite:{tmp_path / 'theirs.db'}")
    async with sayso_client(server, principal=AMY) as client:
        await client.call_tool("customers_list", {})
        await client.call_tool(*DELETE)
    assert not (tmp_path / "theirs.db").exists()
    assert await events(sayso_store) == [
        ("attempt", None),
        ("outcome", "ok"),
        ("outcome", "denied"),
    ]


async def test_an_address_is_a_server_too(sayso_client: ClientFactory, sayso_store: str) -> None:
    async with serve_app(bound(store=sayso_store, principal=AMY).streamable_http_app()) as base:
        surface = await read_surface(f"{base}/mcp")
        assert [one.name for one in surface.tools] == ["customers_list", "customer_delete"]
        async with sayso_client(f"{base}/mcp") as client:
            assert not (await client.call_tool("customers_list", {})).is_error


async def test_a_server_that_cannot_begin_says_why(sayso_client: ClientFactory) -> None:
    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncGenerator[None]:
        raise ZeroDivisionError
        yield

    server: MCPServer[Any] = MCPServer("crm", lifespan=lifespan)
    sayso.bind(server)
    with pytest.raises(ZeroDivisionError):
        await read_surface(server)
    with pytest.raises(ZeroDivisionError):
        async with sayso_client(server):
            pass


async def test_what_a_test_raises_inside_comes_out_as_it_is(sayso_client: ClientFactory) -> None:
    for server in (bound(), plain()):
        with pytest.raises(ZeroDivisionError):
            async with sayso_client(server):
                raise ZeroDivisionError
        with pytest.raises(pytest.fail.Exception, match="no"):
            async with sayso_client(server):
                pytest.fail("no")


async def test_a_client_can_be_cancelled(sayso_client: ClientFactory) -> None:
    with anyio.move_on_after(10) as scope:
        async with sayso_client(bound()):
            scope.cancel()
            await anyio.sleep_forever()
    assert scope.cancelled_caught


async def test_a_function_may_approve(sayso_client: ClientFactory) -> None:
    async with sayso_client(bound(), principal=AMY, approver=lambda _: True) as client:  # pyright: ignore[reportUnknownLambdaType]
        assert text(await client.call_tool(*DELETE)) == "deleted Ben for amy"


async def test_a_mode_that_is_none_is_a_mistake(sayso_client: ClientFactory) -> None:
    with pytest.raises(UsageError, match=r"unknown mode 'strikt'\. Did you mean 'strict'"):
        async with sayso_client(bound(), mode="strikt"):
            pass
    with pytest.raises(UsageError, match="Choose observe"):
        async with sayso_client(bound(), mode="zzz"):
            pass


async def test_a_saved_list_cannot_be_called(sayso_client: ClientFactory, tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text('{"tools": []}')
    with pytest.raises(UsageError, match="cannot be called"):
        async with sayso_client(tmp_path / "tools.json"):
            pass


async def test_a_misspelt_script_is_told_at_the_end(sayso_client: ClientFactory) -> None:
    script = Approver().allow("customers_delete")
    async with sayso_client(bound(), principal=AMY, approver=script, patience=0.2) as client:
        await client.call_tool(*DELETE)
    with pytest.raises(UsageError, match="did you mean 'customer_delete'"):
        script.check()


async def test_an_answer_that_may_not_be_given_is_told_at_the_end(
    sayso_client: ClientFactory,
) -> None:
    script = Approver().allow(by="amy")
    async with sayso_client(bound(), principal=AMY, approver=script, patience=0.2) as client:
        assert (await client.call_tool(*DELETE)).is_error
    with pytest.raises(UsageError, match="amy made this call, so another person must answer"):
        script.check()


async def test_several_people_answer_where_several_must(sayso_client: ClientFactory) -> None:
    policy = load_policy(
        '[[rules]]\nname = "two"\neffect = "confirm"\nreviewers = { count = 2 }\n'
        'when = { tool = "customer_delete" }\n'
    )
    script = Approver().allow(by=["cem", "dee"])
    async with sayso_client(bound(), principal=AMY, approver=script, policy=policy) as client:
        assert text(await client.call_tool(*DELETE)) == "deleted Ben for amy"
    script.check()
