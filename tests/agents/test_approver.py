"""Approvers: a function, a channel, or the person at the terminal."""

import sys
import threading
from pathlib import Path

import anyio
import pytest
from mcp import Client
from tests.agents.serving import events, text
from tests.connect.serving import until
from tests.terminals import run_on_terminal

import sayso
from sayso.approvals import Answer, Approval, Approvals, Strength
from sayso.errors import UsageError

pytestmark = pytest.mark.anyio

ROW = {"customer_id": 12}
PROGRAM = """
import sys
import anyio
import sayso
from mcp import Client
from sayso.demo.data import open_database
from sayso.demo.server import build_server

async def delete(guarded, number):
    result = await guarded.call_tool("customer_delete", {"customer_id": number})
    print(number, result.content[0].text)

async def main():
    with open_database() as database:
        async with (
            Client(build_server(database)) as one,
            Client(build_server(database)) as two,
            sayso.wrap(one, approver="terminal", audit="temporary", patience=20) as first,
            sayso.wrap(two, approver="terminal", audit="temporary", patience=20) as second,
            anyio.create_task_group() as group,
        ):
            group.start_soon(delete, first, 12)
            group.start_soon(delete, second, 11)

anyio.run(main)
"""


def on_terminal(answers: dict[str, str], *, before: str = "") -> str:
    words = [sys.executable, "-W", "error", "-c", PROGRAM]
    code, shown = run_on_terminal(words, answers, before=before)
    assert code == 0, shown
    return shown


@pytest.mark.process
def test_the_person_at_the_terminal_answers_one_question_at_a_time() -> None:
    shown = on_terminal({"Approval 1: yes or no? ": "yes\n"})
    assert "May “agent” run “Delete customer” on “sayso-demo”?" in shown
    assert shown.count("yes or no?") == 2
    first, _, second = shown.partition("yes or no? yes")
    assert "yes or no?" in second
    assert "customer_id: " in first
    assert "Customer 12 is deleted" in shown
    assert "Customer 11 is deleted" in shown


@pytest.mark.process
def test_a_no_at_the_terminal_is_a_denial() -> None:
    shown = on_terminal({"Approval 1: yes or no? ": "no\n"})
    assert shown.count("A person denied this call") == 2


@pytest.mark.process
def test_what_was_typed_before_the_question_does_not_answer_it() -> None:
    shown = on_terminal({"Approval 1: yes or no? ": "no\n"}, before="yes\nyes\n")
    assert shown.count("A person denied this call") == 2


async def test_without_a_terminal_that_is_told_at_once(
    client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from sayso.agents import approver

    monkeypatch.setattr(approver, "_TTY", tmp_path / "none")
    with pytest.raises(UsageError, match="no terminal is available"):
        async with sayso.wrap(client, approver="terminal", audit="temporary"):
            pass


async def test_a_function_that_fails_is_no_answer(client: Client, url: str) -> None:
    def fail(_: Approval) -> bool:
        raise ZeroDivisionError

    async with sayso.wrap(client, approver=fail, audit=url, patience=0.2) as guarded:
        waited = await guarded.call_tool("customer_delete", ROW)
        assert "Not run yet" in text(waited)
        assert not (await guarded.call_tool("customers_get", ROW)).is_error


@pytest.mark.parametrize("said", [1, "yes", [True]])
async def test_only_true_and_false_are_answers(client: Client, url: str, said: object) -> None:
    async with sayso.wrap(client, approver=lambda _: said, audit=url, patience=0.2) as guarded:  # pyright: ignore[reportArgumentType] - that is the test
        assert "Not run yet" in text(await guarded.call_tool("customer_delete", ROW))


async def test_a_late_answer_counts_for_the_same_call_made_again(client: Client, url: str) -> None:
    asked: list[int] = []
    decided = anyio.Event()

    async def think(approval: Approval) -> bool:
        asked.append(approval.number)
        await decided.wait()
        return True

    async with sayso.wrap(client, approver=think, audit=url, patience=0.1) as guarded:
        for _ in range(2):
            assert "Not run yet" in text(await guarded.call_tool("customer_delete", ROW))
        decided.set()
        with anyio.fail_after(60):
            while (await guarded.call_tool("customer_delete", ROW)).is_error:
                await anyio.sleep(0.005)
    assert asked == [1]


async def test_a_function_that_blocks_holds_up_neither_the_program_nor_its_end(
    client: Client, url: str
) -> None:
    asked, never = threading.Event(), threading.Event()

    def block(_: Approval) -> bool:
        asked.set()
        never.wait(60)
        return True

    with anyio.fail_after(30):
        async with (
            sayso.wrap(client, approver=block, audit=url) as guarded,
            anyio.create_task_group() as group,
        ):
            group.start_soon(guarded.call_tool, "customer_delete", ROW)
            await until(asked.is_set)
            assert not (await guarded.call_tool("customers_get", ROW)).is_error
            group.cancel_scope.cancel()
    never.set()
    assert ("outcome", "cancelled") in await events(url)


async def test_functions_that_block_are_called_one_at_a_time(client: Client, url: str) -> None:
    busy = threading.Lock()
    asked: list[int] = []

    def ask(approval: Approval) -> bool:
        assert busy.acquire(blocking=False)
        asked.append(approval.number)
        busy.release()
        return True

    async with (
        sayso.wrap(client, approver=ask, audit=url) as one,
        sayso.wrap(client, approver=ask, audit=url, server="copy") as two,
        anyio.create_task_group() as group,
    ):
        for number in range(1, 5):
            group.start_soon(
                (one, two)[number % 2].call_tool, "customer_delete", {"customer_id": number}
            )
    assert sorted(asked) == [1, 2, 3, 4]


async def test_a_question_that_is_settled_elsewhere_is_taken_back(client: Client, url: str) -> None:
    asked, gone = anyio.Event(), anyio.Event()

    async def wait(_: Approval) -> None:
        asked.set()
        try:
            await anyio.sleep_forever()
        finally:
            gone.set()

    class Elsewhere:
        name = "link"
        strength = Strength.OUT_OF_BAND

        async def offer(self, approvals: Approvals, approval: Approval) -> None:
            answer = Answer(is_allowed=False, by="amy", channel=self.name)
            await approvals.answer(approval.number, answer)

    async with (
        sayso.wrap(client, approver=wait, audit=url) as asking,
        sayso.wrap(client, approver=Elsewhere(), audit=url) as answering,
        anyio.create_task_group() as group,
    ):
        group.start_soon(asking.call_tool, "customer_delete", ROW)
        await asked.wait()
        denied = await answering.call_tool("customer_delete", ROW)
        assert "A person denied this call" in text(denied)
        with anyio.fail_after(60):
            await gone.wait()


async def test_a_channel_that_no_policy_can_name_is_refused(client: Client) -> None:
    class Pager:
        name = "pager"
        strength = Strength.OUT_OF_BAND

        async def offer(self, approvals: Approvals, approval: Approval) -> None: ...

    with pytest.raises(UsageError, match="unknown channel 'pager'"):
        async with sayso.wrap(client, approver=Pager(), audit="temporary"):
            pass
