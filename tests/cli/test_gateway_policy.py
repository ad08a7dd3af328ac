"""`sayso gateway --policy`: the file counts, mistakes are told, and changes count at once."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from tests.cli.running import python, sayso_process, started

QUICK = ("gateway", "--port", "0", "--timeout", "5", "--json", "--patience", "0.2")


def words(store: Path, *more: str) -> tuple[str, ...]:
    return (*QUICK, "--store", f"sqlite:{store}", *more, "--", *python("plain"))


@pytest.mark.anyio
async def test_a_policy_counts_and_so_does_its_next_version(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('[[rules]]\nname = "no-echo"\neffect = "deny"\nwhen = { tool = "get_echo" }')
    with started(*words(tmp_path / "a.db", "--policy", str(policy))) as run:
        async with Client(run.addresses["mcp"]) as client:
            (echo,) = [
                one.name for one in (await client.list_tools()).tools if "get_echo" in one.name
            ]
            denied = await client.call_tool(echo)
            assert denied.is_error
            assert "no-echo" in str(denied.content[0])
            policy.write_text("[[rules]]\neffect = 'allow'")  # a mistake: it has no name
            await until(lambda: told(run.err, "policy.toml:1"))
            assert (await client.call_tool(echo)).is_error
            policy.write_text('mode = "guarded"')
            await until(lambda: works(client, echo))


def test_a_rule_that_names_a_tool_as_clients_see_it_is_told_of(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    rule = '[[rules]]\nname = "r"\neffect = "deny"\nwhen = { tool = "faulty__get_echo" }'
    policy.write_text(rule)
    with started(*words(tmp_path / "a.db", "--policy", str(policy))) as run:
        assert 'server = "faulty", tool = "get_echo"' in run.end().err


async def told(err: Callable[[], str], word: str) -> bool:
    return word in err()


async def works(client: Client, name: str) -> bool:
    result: Any = await client.call_tool(name)
    return not result.is_error


async def until(is_so: Callable[[], Awaitable[bool]]) -> None:
    with anyio.fail_after(45):
        while not await is_so():
            await anyio.sleep(0.005)


def test_a_policy_with_a_mistake_is_not_served_by(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('mode = "guarded"\nmodes = 1')
    done = sayso_process(*words(tmp_path / "a.db", "--policy", str(policy)))
    assert done.code == 2
    assert done.error["where"] == f"{policy}:2"
    assert not (tmp_path / "a.db").exists()


def test_a_webhook_that_is_no_url_is_refused_and_not_repeated(tmp_path: Path) -> None:
    done = sayso_process(*words(tmp_path / "a.db", "--webhook", "hooks.example/secret"))
    assert done.code == 2
    assert done.error["where"] == "--webhook"
    assert "secret" not in done.err
