"""A client behind the guard: the main job, with real servers, in both eras of the protocol."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import Implementation
from tests.agents.serving import events, lines, process, studio, text

import sayso
from sayso.audit import AuditLog, open_audit
from sayso.demo.data import Database
from sayso.demo.server import build_server
from sayso.errors import ConfigError, PolicyError, UsageError
from sayso.keys import load_keys
from sayso.policy import Policy, Principal, load_policy
from sayso.store import open_store

pytestmark = pytest.mark.anyio

ROW = {"customer_id": 12}


def customers(database: Database) -> int:
    with database.reading() as connection:
        return connection.execute("SELECT count(*) FROM customers").fetchone()[0]


async def allow(_: sayso.Approval) -> bool:
    return True


@pytest.mark.parametrize("kind", ["memory", "stdio", "http"])
@pytest.mark.process
async def test_reads_run_and_what_destroys_runs_once_it_is_approved(
    kind: str, era: str, database: Database, tmp_path: Path, url: str
) -> None:
    asked: list[sayso.Approval] = []

    def approve(approval: sayso.Approval) -> bool:
        asked.append(approval)
        return True

    async with (
        studio(kind, database, tmp_path / "studio.db") as server,
        Client(server, mode=era) as client,
        sayso.wrap(client, approver=approve, audit=url) as guarded,
    ):
        read = await guarded.call_tool("customers_get", ROW)
        assert read.structured_content["customerId"] == 12
        assert asked == []
        gone = await guarded.call_tool("customer_delete", ROW)
        assert not gone.is_error
        assert "deleted" in text(gone)
        assert (await guarded.call_tool("customers_get", ROW)).is_error
    (one,) = asked
    question = one.question
    asked_about = (question.server, question.tool, question.level)
    assert asked_about == ("sayso-demo", "customer_delete", "destructive")
    assert question.arguments == ROW
    assert await events(url) == [
        ("attempt", None),
        ("outcome", "ok"),
        ("asked", None),
        ("attempt", None),
        ("outcome", "ok"),
        ("attempt", None),
        ("outcome", "tool_error"),
    ]


@pytest.mark.process
async def test_a_server_of_somebody_else_works_the_same(
    era: str, repository: Path, url: str
) -> None:
    server = process("-m", "mcp_server_git", "--repository", str(repository))
    arguments = {"repo_path": str(repository)}
    async with (
        Client(server, mode=era) as client,
        sayso.wrap(client, approver=allow, audit=url) as guarded,
    ):
        listed = {one.name: one for one in (await guarded.list_tools()).tools}
        assert (listed["git_reset"].meta or {})["io.sayso/intent"]["level"] == "destructive"
        before = text(await guarded.call_tool("git_status", arguments))
        assert "Changes to be committed" in before
        assert not (await guarded.call_tool("git_reset", arguments)).is_error
        after = text(await guarded.call_tool("git_status", arguments))
        assert "Changes to be committed" not in after


async def test_a_denied_call_is_a_result_that_says_so_and_runs_nothing(
    client: Client, database: Database, url: str
) -> None:
    before = customers(database)
    async with sayso.wrap(client, approver=lambda _: False, audit=url) as guarded:
        for _ in range(2):
            denied = await guarded.call_tool("customer_delete", ROW)
            assert denied.is_error
            assert "A person denied this call" in text(denied)
    assert customers(database) == before
    ends = [outcome for event, outcome in await events(url) if event == "outcome"]
    assert ends == ["denied", "denied"]


async def test_without_an_approver_what_would_ask_is_refused_at_once(
    client: Client, database: Database, url: str
) -> None:
    before = customers(database)
    async with sayso.wrap(client, audit=url) as guarded:
        refused = await guarded.call_tool("customer_delete", ROW)
        assert refused.is_error
        assert "no person can be asked. Nothing was run." in text(refused)
    assert customers(database) == before


async def test_a_policy_of_another_type_is_an_error_about_the_policy(
    client: Client, url: str
) -> None:
    wrong: Any = {"mode": "strict"}
    with pytest.raises(UsageError, match="wrap: policy must be a Policy or the path of a"):
        async with sayso.wrap(client, policy=wrong, audit=url):
            pass


async def test_a_call_that_waits_in_vain_says_how_to_go_on(client: Client, url: str) -> None:
    told: list[str] = []
    async with sayso.wrap(
        client, approver=lambda _: None, audit=url, patience=0.1, on_wait=told.append
    ) as guarded:
        waited = await guarded.call_tool("customer_delete", ROW)
    assert waited.is_error
    assert "Not run yet" in text(waited)
    assert (waited.meta or {})["io.sayso/approval"]["state"] == "pending"
    assert told == ["“Delete customer” waits for a person (approval 1)"]


async def test_a_hidden_tool_is_not_listed_and_unknown_in_the_same_words(
    client: Client, url: str, tmp_path: Path
) -> None:
    path = tmp_path / "policy.toml"
    path.write_text('[[rules]]\nname = "no-mail"\neffect = "hide"\nwhen = { tool = "invoice_*" }\n')
    async with sayso.wrap(client, policy=path, audit=url) as guarded:
        names = [one.name for one in (await guarded.list_tools()).tools]
        assert "customers_get" in names
        assert not any(one.startswith("invoice_") for one in names)
        with pytest.raises(MCPError) as hidden:
            await guarded.call_tool("invoice_send", {"invoice_id": 1})
        with pytest.raises(MCPError) as missing:
            await guarded.call_tool("invoice_sent", {"invoice_id": 1})
    assert hidden.value.code == missing.value.code == -32602
    assert str(hidden.value) == "Unknown tool: invoice_send"
    assert str(missing.value) == "Unknown tool: invoice_sent"
    assert await events(url) == [("refused", "unknown_tool")] * 2


async def test_arguments_that_do_not_fit_reach_neither_a_person_nor_the_server(
    client: Client, url: str
) -> None:
    async with sayso.wrap(client, approver=allow, audit=url) as guarded:
        wrong = await guarded.call_tool("customer_delete", {"customer_id": "12"})
        assert wrong.is_error
        assert "these arguments do not fit the tool" in text(wrong)
    assert await events(url) == [("refused", "bad_arguments")]


async def test_what_is_not_about_tools_is_the_clients_own(client: Client, url: str) -> None:
    async with sayso.wrap(client, audit=url) as guarded:
        assert await guarded.list_prompts() == await client.list_prompts()
        assert await guarded.list_resources() == await client.list_resources()
        assert guarded.protocol_version == client.protocol_version
        assert guarded.server_info == client.server_info
        assert repr(guarded) == "<sayso: agent to sayso-demo>"


async def test_the_session_that_goes_around_the_guard_is_not_handed_out(
    client: Client, url: str
) -> None:
    async with sayso.wrap(client, audit=url) as guarded:
        for name in ("session", "_session"):
            assert not hasattr(guarded, name)
        with pytest.raises(AttributeError, match="would bypass the guard"):
            _ = guarded.session
    assert client.session


async def test_after_it_is_left_nothing_runs(client: Client, database: Database, url: str) -> None:
    before = customers(database)
    async with sayso.wrap(client, approver=allow, audit=url) as guarded:
        pass
    with pytest.raises(UsageError, match="this wrapped client is closed"):
        await guarded.call_tool("customer_delete", ROW)
    with pytest.raises(UsageError, match="this wrapped client is closed"):
        await guarded.list_tools()
    assert customers(database) == before


async def test_two_clients_share_one_store_and_its_limits(
    database: Database, era: str, url: str
) -> None:
    policy = load_policy("[limits.calls_per_minute]\nread = 3\n")
    async with (
        Client(build_server(database), mode=era) as one,
        Client(build_server(database), mode=era) as two,
        sayso.wrap(one, policy=policy, audit=url) as first,
        sayso.wrap(two, policy=policy, audit=url) as second,
    ):
        for guarded in (first, second, first):
            assert not (await guarded.call_tool("customers_list")).is_error
        for guarded in (first, second):
            over = await guarded.call_tool("customers_list")
            assert over.is_error
            assert "limit" in text(over)


async def test_an_open_log_serves_several_clients(
    database: Database, era: str, url: str, tmp_path: Path
) -> None:
    store = open_store(url)
    async with open_audit(store, load_keys(tmp_path / "sayso.db", is_made=True)) as log:
        for _ in range(2):
            async with (
                Client(build_server(database), mode=era) as client,
                sayso.wrap(client, audit=log) as guarded,
            ):
                assert not (await guarded.call_tool("customers_get", ROW)).is_error
    await store.close()
    assert [one for _, one in await events(url)] == [None, "ok"] * 2


async def test_a_log_that_names_no_database_is_refused_with_the_way_to_open_one(
    database: Database, url: str
) -> None:
    store = open_store(url)
    async with Client(build_server(database)) as client:
        with pytest.raises(UsageError, match=r"has no database.*open_audit"):
            async with sayso.wrap(client, audit=AuditLog(store.records)):
                pass
    await store.close()


async def test_the_record_says_who_acts_through_what(database: Database, url: str) -> None:
    about = Implementation(name="billing-agent", version="1")
    async with Client(build_server(database), client_info=about) as client:
        for principal in (None, "ann", Principal("bo", "bot")):
            async with sayso.wrap(client, audit=url, principal=principal) as guarded:
                await guarded.call_tool("customers_get", ROW)
    async with (
        Client(build_server(database)) as client,
        sayso.wrap(client, audit=url) as guarded,
    ):
        await guarded.call_tool("customers_get", ROW)
    attempts = [one for one in await lines(url) if one["event"] == "attempt"]
    assert [(one["subject"], one["client"]) for one in attempts] == [
        ("local", "billing-agent"),
        ("ann", "billing-agent"),
        ("bo", "bot"),
        ("local", "agent"),
    ]


async def test_an_answer_for_one_server_is_none_for_another(
    era: str, database: Database, url: str
) -> None:
    asked: list[str] = []

    def deny(approval: sayso.Approval) -> bool:
        asked.append(approval.question.server)
        return False

    async with Client(build_server(database), mode=era) as client:
        for server in ("crm", "crm", "copy"):
            async with sayso.wrap(client, approver=deny, audit=url, server=server) as guarded:
                await guarded.call_tool("customer_delete", ROW)
    assert asked == ["crm", "copy"]


async def test_a_client_that_is_not_connected_is_told_so() -> None:
    with pytest.raises(UsageError, match="the client is not connected"):
        async with sayso.wrap(Client("http://127.0.0.1:1/mcp"), audit="temporary"):
            pass


async def test_mistakes_are_told_before_anything_is_called(client: Client, tmp_path: Path) -> None:
    bad = tmp_path / "policy.toml"
    bad.write_text('mode = "sloppy"\n')
    deaf = Policy(channels=frozenset({"console"}))
    wrong: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"policy": bad}, PolicyError, "policy.toml:1"),
        ({"policy": str(tmp_path / "none.toml")}, ConfigError, "cannot be read"),
        ({"audit": "sayso.db"}, UsageError, "audit: 'sayso.db' is not a store"),
        ({"approver": "chat"}, UsageError, "invalid approver 'chat'"),
        ({"approver": allow, "policy": deaf}, UsageError, "does not allow answers over “program”"),
    ]
    for given, kind, words in wrong:
        more: dict[str, Any] = {"audit": "temporary", **given}
        with pytest.raises(kind, match=words):
            async with sayso.wrap(client, **more):
                pass


async def test_a_name_that_a_server_gave_itself_earns_no_trust(client: Client) -> None:
    policy = load_policy('[trust]\nsayso-demo = "trusted"\n')
    with pytest.raises(UsageError, match='server="sayso-demo"'):
        async with sayso.wrap(client, policy=policy, audit="temporary"):
            pass
    async with sayso.wrap(client, policy=policy, audit="temporary", server="sayso-demo"):
        pass


async def test_the_record_is_kept_where_the_user_keeps_it_unless_said_otherwise(
    client: Client, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAYSO_STORE", url)
    async with sayso.wrap(client) as guarded:
        await guarded.call_tool("customers_get", ROW)
    async with sayso.wrap(client, audit="temporary") as guarded:
        await guarded.call_tool("customers_get", ROW)
    assert await events(url) == [("attempt", None), ("outcome", "ok")]


async def test_an_error_in_the_program_is_raised_as_it_is(client: Client, url: str) -> None:
    with pytest.raises(ZeroDivisionError):
        async with sayso.wrap(client, approver=allow, audit=url):
            _ = 1 / 0


async def test_many_calls_at_once_get_their_own_answers(client: Client, url: str) -> None:
    found: dict[int, int] = {}

    async def get(guarded: sayso.Guarded, number: int) -> None:
        result = await guarded.call_tool("customers_get", {"customer_id": number})
        found[number] = result.structured_content["customerId"]

    async with (
        sayso.wrap(client, audit=url) as guarded,
        anyio.create_task_group() as group,
    ):
        for number in range(1, 13):
            group.start_soon(get, guarded, number)
    assert found == {number: number for number in range(1, 13)}
