"""The terminal as a channel, on a real one: a pseudo-terminal with a person at its other end."""

import os
import tty
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

import anyio
import pytest
from tests.approvals.questions import of, only, question, yes
from tests.sample_tools import DELETE, tool

from sayso.approvals import Approvals, ApprovalState, Strength, TerminalChannel

pytestmark = pytest.mark.anyio


@dataclass
class Person:
    """Whoever sits at the terminal: reads what is on it, and types."""

    end: int
    reader: TextIO
    writer: TextIO
    seen: str = ""

    def channel(self) -> TerminalChannel:
        return TerminalChannel(self.reader, self.writer)

    async def reads(self, words: str) -> str:
        """All that is on the terminal, once these words are."""
        with anyio.fail_after(60):
            while words not in self.seen:
                await anyio.wait_readable(self.end)
                self.seen += os.read(self.end, 65_536).decode()
        return self.seen

    def types(self, text: str) -> None:
        os.write(self.end, text.encode())

    def leaves(self) -> None:
        os.close(self.end)
        self.end = -1


@pytest.fixture
def person() -> Iterator[Person]:
    end, terminal = os.openpty()
    with (
        os.fdopen(terminal, "r") as reader,
        os.fdopen(os.dup(terminal), "w") as writer,
    ):
        found = Person(end, reader, writer)
        yield found
        if found.end >= 0:
            found.leaves()


async def state(approvals: Approvals, number: int = 1) -> ApprovalState:
    found = await approvals.find(number)
    assert found is not None
    return found.state


async def offered(approvals: Approvals, person: Person, *typed: str) -> str:
    """Offer a question to somebody who types so, and give what was on the terminal."""
    approval = await approvals.ask(question())
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(person.channel().offer, approvals, approval)
            await person.reads("yes or no? ")
            for text in typed[:-1]:
                person.types(text)
                await person.reads("type yes or no in full: ")
                person.seen = ""
            person.types(typed[-1])
    return person.seen


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("yes\n", ApprovalState.APPROVED),
        ("  YES \n", ApprovalState.APPROVED),
        ("no\n", ApprovalState.DENIED),
    ],
)
async def test_yes_and_no_in_full_are_answers(
    approvals: Approvals, person: Person, typed: str, found: ApprovalState
) -> None:
    seen = await offered(approvals, person, typed)
    assert "May “chat” run “Delete customer” on “demo”?\r\n" in seen
    assert "customer_id: 7" in seen
    assert await state(approvals) is found
    (said,) = await approvals.answers(1)
    assert (said.person, said.channel, said.strength) == (
        "terminal",
        "terminal",
        Strength.OUT_OF_BAND,
    )


@pytest.mark.parametrize("typed", ["y\n", "\n", "yes please\n", "ye\x01s\n", "ja\n", "1\n"])
async def test_anything_else_is_asked_again(
    approvals: Approvals, person: Person, typed: str
) -> None:
    await offered(approvals, person, typed, "no\n")
    assert await state(approvals) is ApprovalState.DENIED


async def test_what_was_typed_before_a_question_is_no_answer_to_it(
    approvals: Approvals, person: Person
) -> None:
    person.types("yes\n")
    approval = await approvals.ask(question())
    async with anyio.create_task_group() as group:
        group.start_soon(person.channel().offer, approvals, approval)
        await person.reads("yes or no? ")
        with anyio.move_on_after(0.2):
            await approvals.wait(1, 10)
        assert await state(approvals) is ApprovalState.PENDING
        person.types("no\n")
    assert await state(approvals) is ApprovalState.DENIED


async def test_what_was_typed_for_a_question_that_is_over_is_no_answer_to_the_next(
    approvals: Approvals, person: Person
) -> None:
    first, second = [await approvals.ask(question(customer_id=one)) for one in (1, 2)]
    channel = person.channel()
    async with anyio.create_task_group() as group:
        group.start_soon(channel.offer, approvals, first)
        await person.reads("Approval 1: yes or no? ")
        group.cancel_scope.cancel()
    await person.reads("(this question no longer needs an answer)")
    person.types("yes\n")
    async with anyio.create_task_group() as group:
        group.start_soon(channel.offer, approvals, second)
        await person.reads("Approval 2: yes or no? ")
        person.types("no\n")
    assert await state(approvals, 1) is ApprovalState.PENDING
    assert await state(approvals, 2) is ApprovalState.DENIED


async def test_one_question_is_asked_at_a_time(approvals: Approvals, person: Person) -> None:
    first, second = [await approvals.ask(question(customer_id=one)) for one in (1, 2)]
    channel = person.channel()
    async with anyio.create_task_group() as group:
        group.start_soon(channel.offer, approvals, first)
        await person.reads("Approval 1: yes or no? ")
        group.start_soon(channel.offer, approvals, second)
        person.types("yes\n")
        seen = await person.reads("Approval 2: yes or no? ")
        assert seen.count("customer_id: 2") == 1
        person.types("no\n")
    assert await state(approvals, 1) is ApprovalState.APPROVED
    assert await state(approvals, 2) is ApprovalState.DENIED


async def test_whoever_is_too_late_or_may_not_answer_is_told(
    approvals: Approvals, person: Person
) -> None:
    late = await approvals.ask(question())
    named = await approvals.ask(of(tool(annotations=DELETE), reviewers=only("bo")))
    channel = person.channel()
    async with anyio.create_task_group() as group:
        group.start_soon(channel.offer, approvals, late)
        await person.reads("Approval 1: yes or no? ")
        await approvals.answer(1, yes("bo"))
        person.types("no\n")
        await person.reads("(already answered by someone else)")
        group.start_soon(channel.offer, approvals, named)
        await person.reads("Approval 2: yes or no? ")
        person.types("yes\n")
        await person.reads("approval 2: only bo may answer this question")
    assert await state(approvals, 2) is ApprovalState.PENDING


async def test_a_terminal_that_is_gone_answers_nothing(
    approvals: Approvals, person: Person
) -> None:
    approval = await approvals.ask(question())
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(person.channel().offer, approvals, approval)
            await person.reads("yes or no? ")
            person.leaves()
    assert await state(approvals) is ApprovalState.PENDING


async def test_a_pipe_that_ends_answers_nothing(approvals: Approvals, person: Person) -> None:
    out, into = os.pipe()
    os.close(into)
    approval = await approvals.ask(question())
    with os.fdopen(out, "r") as reader, anyio.fail_after(60):
        await TerminalChannel(reader, person.writer).offer(approvals, approval)
    assert await state(approvals) is ApprovalState.PENDING


async def test_nothing_that_others_wrote_reaches_the_terminal_as_a_control(
    approvals: Approvals, person: Person
) -> None:
    tty.setraw(person.writer.fileno())
    approval = await approvals.ask(of(tool("t", DELETE, title="\x1b[2Ja\u202eb"), {"\x07": "\x1b"}))
    async with anyio.create_task_group() as group:
        group.start_soon(person.channel().offer, approvals, approval)
        await person.reads("yes or no? ")
        group.cancel_scope.cancel()
    seen = person.seen
    assert "“\\u001b[2Ja\\u202eb”" in seen
    assert "  \\u0007: \\u001b" in seen
    assert not {"\x1b", "\x07", "\u202e"} & set(seen)
