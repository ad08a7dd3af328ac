import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fastmcp import FastMCP
from mcp.server import MCPServer
from mcp_types import ToolAnnotations
from tests.testing.servers import GIT, hints, plain

import sayso
from sayso.errors import UsageError
from sayso.testing import assert_behaves, exercise, folder_state, sqlite_state


def one_tool(intent: sayso.Intent, function: Callable[..., Any], **how: Any) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("crm")
    sayso.bind(server).tool(intent, name="it", **how)(function)
    return server


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return "done"


def append(path: Path) -> str:
    with path.open("a") as file:
        file.write("x")
    return "done"


def remove(path: Path) -> str:
    path.unlink(missing_ok=True)
    return "done"


def test_a_tool_that_only_reads_is_supported_by_two_calls(tmp_path: Path) -> None:
    found = assert_behaves(one_tool(sayso.READ_ONLY, lambda: "a"), probe=folder_state(tmp_path))
    assert str(found) == "it: read_only supported by 2 calls"
    assert found.status("it", "read_only") == "supported"


def test_what_was_not_exercised_passes_unless_it_is_to_be_exact(tmp_path: Path) -> None:
    server = one_tool(sayso.READ_ONLY, lambda: "a")
    found = assert_behaves(server)
    assert found.status("it", "read_only") == "not_exercised"
    for given in (server, found):
        with pytest.raises(AssertionError) as caught:
            assert_behaves(given, exact=True)
        assert str(caught.value) == (
            "crm: some promises were not exercised, and the test is exact\n"
            "  it: read_only not exercised: no probe observes the state"
        )
    assert_behaves(server, probe=folder_state(tmp_path), exact=True)


def test_a_tool_that_writes_and_says_that_it_reads_is_refuted(tmp_path: Path) -> None:
    server = one_tool(sayso.READ_ONLY, lambda: write(tmp_path / "log.txt", "x"))
    with pytest.raises(AssertionError) as caught:
        assert_behaves(server, probe=folder_state(tmp_path))
    assert str(caught.value) == (
        "crm: the behaviour differs from the declaration\n"
        "  it: read_only refuted: made log.txt with {}"
    )


@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP"])
def test_servers_without_sayso_are_held_to_their_hints_too(kind: str, tmp_path: Path) -> None:
    server: Any = MCPServer("crm") if kind == "MCPServer" else FastMCP("crm")
    said = ToolAnnotations(read_only_hint=True, open_world_hint=False)

    @server.tool(annotations=said)
    def it() -> str:
        return append(tmp_path / "log.txt")

    with pytest.raises(AssertionError, match="read_only refuted"):
        assert_behaves(server, probe=folder_state(tmp_path))


def test_a_low_level_server_is_held_to_its_hints_too(tmp_path: Path) -> None:
    entry = {"name": "it", "annotations": hints(read_only=True, open_world=False)}
    server = plain(entry, answer=lambda *_: append(tmp_path / "log.txt"))
    with pytest.raises(AssertionError, match="read_only refuted"):
        assert_behaves(server, probe=folder_state(tmp_path))


def test_a_read_whose_results_differ_is_refuted_unless_they_may() -> None:
    numbers = iter(range(100))
    server = one_tool(sayso.READ_ONLY, lambda: str(next(numbers)))
    with pytest.raises(AssertionError, match="gave different results"):
        assert_behaves(server)
    assert_behaves(server, varying=["it"])


def test_without_a_probe_nothing_is_supported() -> None:
    found = assert_behaves(one_tool(sayso.READ_ONLY, lambda: "a"))
    assert str(found) == "it: read_only not exercised: no probe observes the state"


def test_a_write_that_is_not_idempotent_is_refuted_when_it_says_so(tmp_path: Path) -> None:
    server = one_tool(sayso.WRITE, lambda: append(tmp_path / "log.txt"))
    with pytest.raises(AssertionError, match=r"a second call with {} changed log\.txt"):
        assert_behaves(server, probe=folder_state(tmp_path))

    honest = one_tool(sayso.APPEND, lambda: append(tmp_path / "log.txt"))
    found = assert_behaves(honest, probe=folder_state(tmp_path))
    assert str(found) == "it: destructive supported by 1 call"


def test_a_write_that_loses_a_record_is_refuted_when_it_says_it_does_not(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    server = one_tool(sayso.WRITE, lambda: remove(tmp_path / "a.txt"))
    with pytest.raises(AssertionError, match=r"destructive refuted: lost a\.txt with {}"):
        assert_behaves(server, probe=folder_state(tmp_path))


def test_an_upsert_is_supported_in_all_that_it_says(tmp_path: Path) -> None:
    server = one_tool(sayso.UPSERT, lambda text: write(tmp_path / "a.txt", text))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    found = assert_behaves(
        server, calls={"it": [{"text": "a"}, {"text": "b"}]}, probe=folder_state(tmp_path)
    )
    assert str(found) == "it: destructive supported by 2 calls\nit: idempotent supported by 4 calls"


def test_what_destroys_is_called_only_when_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    server = one_tool(sayso.DELETE.but(idempotent=True), lambda: remove(tmp_path / "a.txt"))

    found = assert_behaves(server, probe=folder_state(tmp_path))
    assert (tmp_path / "a.txt").exists()
    assert "not exercised: it may be destructive, so it requires arguments" in str(found)

    found = assert_behaves(server, calls={"it": {}}, probe=folder_state(tmp_path))
    assert not (tmp_path / "a.txt").exists()
    assert str(found) == "it: idempotent supported by 2 calls"


def test_what_reaches_outside_is_called_only_when_named() -> None:
    def it() -> str:
        raise AssertionError

    found = assert_behaves(one_tool(sayso.FETCH, it))
    assert "it may be open-world" in str(found)


def test_a_dry_run_that_changes_something_is_refuted(tmp_path: Path) -> None:
    def it(dry_run: bool = False) -> str:  # noqa: FBT001, FBT002 - an argument of a tool
        return f"{append(tmp_path / 'log.txt')} {dry_run}"

    def honest(dry_run: bool = False) -> str:  # noqa: FBT001, FBT002 - as above
        return "dry" if dry_run else append(tmp_path / "log.txt")

    look = folder_state(tmp_path)
    with pytest.raises(
        AssertionError, match=r"dry_run refuted: made log\.txt although dry_run was"
    ):
        assert_behaves(one_tool(sayso.APPEND, it, dry_run=True), probe=look)
    found = assert_behaves(one_tool(sayso.APPEND, honest, dry_run=True), probe=look)
    assert found.status("it", "dry_run") == "supported"
    found = assert_behaves(
        one_tool(sayso.DELETE, honest, dry_run=True), calls={"it": {}}, probe=look
    )
    assert str(found) == "it: dry_run supported by 1 call"


def test_without_arguments_a_tool_says_what_it_lacks(tmp_path: Path) -> None:
    found = assert_behaves(
        one_tool(sayso.READ_ONLY, lambda customer_id: f"a{customer_id}"),  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
        probe=folder_state(tmp_path),
    )
    assert "its schema has no example for customer_id: add arguments in calls={…}" in str(found)


def test_a_call_that_was_given_and_fails_fails_the_test(tmp_path: Path) -> None:
    def it(customer_id: int = 1) -> str:
        raise ValueError(customer_id)

    server = one_tool(sayso.READ_ONLY, it)
    found = assert_behaves(server, probe=folder_state(tmp_path))
    assert "not exercised: the call ended in an error" in str(found)
    with pytest.raises(AssertionError, match="it: the test's call ended in an error"):
        assert_behaves(server, calls={"it": {"customer_id": 2}}, probe=folder_state(tmp_path))


def test_rows_are_watched_by_their_table_and_number(tmp_path: Path) -> None:
    path = tmp_path / "crm.db"
    with closing(sqlite3.connect(path)) as made:
        made.executescript(
            "CREATE TABLE notes (text); INSERT INTO notes VALUES ('a');"
            "CREATE TABLE seen (n); CREATE TABLE odd (a PRIMARY KEY) WITHOUT ROWID;"
            "INSERT INTO odd VALUES (1);"
        )

    def run(sql: str) -> str:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(sql)
            connection.commit()
        return "done"

    look = sqlite_state(path, ignore=["seen"])
    assert_behaves(
        one_tool(sayso.READ_ONLY, lambda: run("INSERT INTO seen VALUES (1)")), probe=look
    )
    with pytest.raises(AssertionError, match="read_only refuted: changed notes row 1"):
        assert_behaves(
            one_tool(sayso.READ_ONLY, lambda: run("UPDATE notes SET text = text || 'b'")),
            probe=look,
        )
    with pytest.raises(AssertionError, match="lost odd row"):
        assert_behaves(one_tool(sayso.WRITE, lambda: run("DELETE FROM odd")), probe=look)


def test_a_column_that_is_called_rowid_hides_no_row(tmp_path: Path) -> None:
    path = tmp_path / "crm.db"
    with closing(sqlite3.connect(path)) as made:
        made.executescript(
            "CREATE TABLE notes (rowid, text); INSERT INTO notes VALUES (1, 'a'), (1, 'b');"
            "CREATE TABLE odd (rowid, _rowid_, oid); INSERT INTO odd VALUES (1, 1, 1);"
        )

    def run(sql: str) -> str:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(sql)
            connection.commit()
        return "done"

    look = sqlite_state(path)
    for sql, told in (
        ("DELETE FROM notes WHERE text = 'a'", "lost notes row 1"),
        ("DELETE FROM odd", "lost odd row"),
    ):
        tool = one_tool(sayso.WRITE, partial(run, sql))
        with pytest.raises(AssertionError, match=told):
            assert_behaves(tool, probe=look)


def test_a_tool_that_undoes_on_its_second_call_what_it_did_does_not_only_read(
    tmp_path: Path,
) -> None:
    star = tmp_path / "star"

    def toggle() -> str:
        star.unlink() if star.exists() else star.touch()
        return "done"

    with pytest.raises(AssertionError, match="read_only refuted: made star"):
        assert_behaves(one_tool(sayso.READ_ONLY, toggle), probe=folder_state(tmp_path))


def test_a_probe_of_nothing_is_a_mistake(tmp_path: Path) -> None:
    server = one_tool(sayso.READ_ONLY, lambda: "a")
    with pytest.raises(UsageError, match="no such folder"):
        assert_behaves(server, probe=folder_state(tmp_path / "none"))
    with pytest.raises(UsageError, match="the file cannot be read"):
        assert_behaves(server, probe=sqlite_state(tmp_path / "none.db"))


def test_a_probe_of_any_kind_and_several_of_them_will_do(tmp_path: Path) -> None:
    box: list[int] = []
    server = one_tool(sayso.READ_ONLY, lambda: str(box.append(1)))
    with pytest.raises(AssertionError, match="the state was changed"):
        assert_behaves(server, probe=[folder_state(tmp_path), lambda: len(box)])


async def test_inside_of_an_event_loop_tools_are_exercised_first(tmp_path: Path) -> None:
    server = one_tool(sayso.READ_ONLY, lambda: "a")
    with pytest.raises(UsageError, match=r"assert_behaves\(await sayso\.testing\.exercise"):
        assert_behaves(server)
    assert_behaves(await exercise(server, probe=folder_state(tmp_path)))


async def test_a_name_of_no_tool_is_a_mistake() -> None:
    for how in ({"calls": {"that": {}}}, {"varying": ["that"]}, {"only": ["that"]}):
        with pytest.raises(UsageError, match="no tool 'that'"):
            await exercise(one_tool(sayso.READ_ONLY, lambda: "a"), **how)  # pyright: ignore[reportArgumentType]


async def test_reads_come_first_and_a_reset_before_each_tool(tmp_path: Path) -> None:
    server: MCPServer[Any] = MCPServer("crm")
    tools = sayso.bind(server)
    order: list[str] = []
    for name, intent in (("c", sayso.DELETE), ("b", sayso.WRITE), ("a", sayso.READ_ONLY)):
        tools.tool(intent, name=name)(lambda name=name: str(order.append(name)))
    found = await exercise(
        server,
        calls={"c": {}},
        probe=folder_state(tmp_path),
        reset=lambda: order.append("reset"),
        only=["a", "b"],
    )
    assert order == ["reset", "a", "a", "reset", "b"]
    assert {one.tool for one in found.verdicts} == {"a", "b"}
    with pytest.raises(UsageError, match="no verdict on read_only of 'c'"):
        found.status("c", "read_only")


def test_a_guard_that_would_ask_or_hide_is_not_in_the_way(tmp_path: Path) -> None:
    server: MCPServer[Any] = MCPServer("crm")
    tools = sayso.bind(server, store=f"sqlite:{tmp_path / 'theirs.db'}")

    @tools.tool(sayso.DELETE.but(idempotent=True), scopes={"crm.write"})
    def it() -> str:
        return remove(tmp_path / "a.txt")

    (tmp_path / "a.txt").touch()
    found = assert_behaves(server, calls={"it": {}}, probe=folder_state(tmp_path))
    assert found.status("it", "idempotent") == "supported"
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_changed_nothing_supports_nothing(tmp_path: Path) -> None:
    server = one_tool(sayso.UPSERT, lambda: "There is no customer 12.")
    found = assert_behaves(server, probe=folder_state(tmp_path))
    assert str(found) == (
        "it: destructive not exercised: the call with {} changed nothing that a probe observes\n"
        "it: idempotent not exercised: the call with {} changed nothing that a probe observes"
    )


@pytest.mark.process
def test_a_server_elsewhere_is_called_only_with_given_arguments(repository: Path) -> None:
    where = {"repo_path": str(repository)}
    found = assert_behaves(
        [GIT],
        calls={"git_status": where, "git_log": where, "git_add": {**where, "files": ["a.txt"]}},
        only=["git_status", "git_log", "git_add", "git_diff_staged"],
        probe=folder_state(repository, ignore=[".git/index"]),
    )
    assert found.status("git_status", "read_only") == "supported"
    assert found.status("git_log", "read_only") == "supported"
    assert "git_diff_staged: read_only not exercised: it runs in another process" in str(found)


def test_a_tool_that_is_named_without_a_call_is_not_exercised(tmp_path: Path) -> None:
    server = one_tool(sayso.READ_ONLY, lambda: "a")
    found = assert_behaves(server, calls={"it": []}, probe=folder_state(tmp_path))
    assert str(found) == "it: read_only not exercised: calls={…} has an empty list for it"


def test_of_several_calls_one_that_refutes_is_enough(tmp_path: Path) -> None:
    def it(customer_id: int) -> str:
        return append(tmp_path / "log.txt") if customer_id > 1 else "a"

    calls = {"it": [{"customer_id": number} for number in (1, 2, 1)]}
    with pytest.raises(AssertionError, match=r"made log\.txt with {'customer_id': 2}"):
        assert_behaves(one_tool(sayso.READ_ONLY, it), calls=calls, probe=folder_state(tmp_path))
