"""A program that runs the guard and is killed in it: each line that it reads is one more life.

It has imported all that it needs and opened nothing; each life is a fork of it. A second fork is
the person who answers.
"""

import contextlib
import json
import os
import re
import select
import signal
import sqlite3
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import anyio
import psycopg
import stamina
import stamina.instrumentation
from cryptography.hazmat.primitives.ciphers import aead
from tests.databases import with_subjects
from tests.guard.lives import KEYED, KEYS, KINDS, LOSES_ITS_ANSWER, SPANS, Life
from tests.guard.mutants import mutate
from tests.sample_tools import tool

from sayso.approvals import Answer, Approvals, ledger
from sayso.audit import heads_file, open_audit
from sayso.catalog import Tool
from sayso.connect import Fault, RpcError
from sayso.guard import Call, Guard, pipeline
from sayso.guard.call import META_KEY
from sayso.guard.context import GuardContext, Step, Then, WrappingStep, every_call
from sayso.intent import Trust
from sayso.policy import LOCAL, Policy, Principal
from sayso.store import Database, open_store
from sayso.store.postgres import PostgresDriver, PostgresSession
from sayso.store.session import Driver, Session
from sayso.store.sqlite import SqliteDriver

LONGEST: Final = 60.0
_POLL: Final = 0.02
_PATIENCE: Final = 20.0
_KIND: Final[ContextVar[str]] = ContextVar("kind", default="")

assert aead is not None  # imported here, so that no life has to


@dataclass
class Fate:
    """The point at which one life ends."""

    life: Life
    tell: int
    keep_head: Callable[[], None] = lambda: None

    def meet(self, point: str, kind: str) -> None:
        """Die here, if it is here."""
        if (point, kind) == (self.life.point, self.life.kind):
            self.keep_head()
            os.kill(os.getpid(), signal.SIGKILL)

    def is_amid(self, point: str, kind: str) -> bool:
        return (point, kind) == (self.life.point, self.life.kind)

    def be_killed(self) -> None:
        """Ask for the kill; it comes from another process, a moment later."""
        self.keep_head()
        os.write(self.tell, b"!")


def mortal(step: Step | WrappingStep, fate: Fate) -> WrappingStep:
    """A step that may end the process just before it, and when all after it have come back."""

    async def run(guard: GuardContext, call: Call, then: Then) -> dict[str, Any]:
        fate.meet(f"enter {step.name}", call.name)
        try:
            if not step.applies(call):
                return await then(call)
            if isinstance(step, WrappingStep):
                return await step.run(guard, call, then)
            return await step.run(guard, call) or await then(call)
        finally:
            fate.meet(f"left {step.name}", call.name)

    return WrappingStep(step.name, every_call, run)


class MortalSubject:
    """A real subject, with an end just before and just after each thing that it is asked to do."""

    def __init__(self, subject: Any, name: str, fate: Fate) -> None:
        self._subject, self._name, self._fate = subject, name, fate

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._subject, name)
        if name == "watch":
            return found
        point = f"{self._name}.{name}"

        async def mortal_method(*args: Any, **more: Any) -> Any:
            self._fate.meet(f"before {point}", _KIND.get())
            result = await found(*args, **more)
            self._fate.meet(f"after {point}", _KIND.get())
            return result

        return mortal_method


class MortalSession:
    """A real session, with an end before, amid and after the commit of certain rows."""

    def __init__(self, session: Session, fate: Fate) -> None:
        self._session, self._fate = session, fate
        self._carried: set[tuple[str, str]] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def insert(self, sql: str, rows: Sequence[tuple[Any, ...]]) -> int:
        for row in rows if sql.startswith("INSERT INTO records") else ():
            body: dict[str, Any] = json.loads(row[3])
            is_closing = "closed_for" in body
            self._carried.add(("closing", "") if is_closing else (row[2], body.get("tool", "")))
        return self._session.insert(sql, rows)

    def change(self, sql: str, values: Mapping[str, Any] | None = None) -> int:
        if "state = 'used'" in sql or sql.startswith("INSERT INTO claims"):
            self._carried.add(("use" if "used" in sql else "claim", ""))
        return self._session.change(sql, values)

    def commit(self) -> None:
        carried, self._carried = self._carried, set()
        for event, kind in carried:
            self._fate.meet(f"before the commit of {event}", kind)
        if any(self._fate.is_amid(f"amid the commit of {one}", kind) for one, kind in carried):
            self._die_amid()
        self._session.commit()
        for event, kind in carried:
            self._fate.meet(f"after the commit of {event}", kind)

    def _die_amid(self) -> None:
        if isinstance(self._session, PostgresSession):
            wire = self._session.connection.pgconn
            wire.send_query(b"COMMIT")
            wire.flush()
            self._fate.keep_head()
            os.kill(os.getpid(), signal.SIGKILL)
        self._fate.be_killed()
        self._session.commit()
        threading.Event().wait(LONGEST)


class MortalDriver:
    """A real driver whose sessions may end the process."""

    def __init__(self, driver: Driver, fate: Fate) -> None:
        self._driver, self._fate = driver, fate

    def __getattr__(self, name: str) -> Any:
        return getattr(self._driver, name)

    def open(self) -> Any:
        return MortalSession(self._driver.open(), self._fate)


class Peek:
    """The log as a connection that is not sayso's sees it: what is on disk, and nothing else."""

    def __init__(self, url: str) -> None:
        if url.startswith("sqlite:"):
            path = url.removeprefix("sqlite:")
            self._db: Any = sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)
            self._table, self._place = "records", "?"
        else:
            self._db = psycopg.connect(url, autocommit=True)
            self._table, self._place = "sayso.records", "%s"

    def attempts(self, call: str) -> int:
        """Return the number of attempts of a call."""
        sql = f"SELECT count(*) FROM {self._table} WHERE event = 'attempt' AND call = {self._place}"  # noqa: S608 - both are constants of this class
        return self._db.execute(sql, (call,)).fetchone()[0]

    def open_calls(self) -> int:
        """Return the number of attempts without an outcome."""
        ended = f"SELECT call FROM {self._table} WHERE event = 'outcome'"  # noqa: S608 - as above
        sql = (
            f"SELECT count(*) FROM {self._table} WHERE event = 'attempt' AND call NOT IN ({ended})"  # noqa: S608 - as above
        )
        return self._db.execute(sql).fetchone()[0]


@dataclass
class World:
    """A server whose every effect is one line of a journal, synced."""

    journal: int
    fate: Fate
    peek: Peek
    tools: dict[str, Tool] = field(default_factory=dict[str, Tool])
    lost: set[str] = field(default_factory=set[str])

    async def find(
        self,
        name: str,
        _principal: object,
        /,
        *,
        is_fresh: bool = False,  # noqa: ARG002 - a seam
    ) -> Tool | None:
        return self.tools.get(name)

    async def run(self, call: Call) -> dict[str, Any]:
        call.is_sent = True
        self.fate.meet("sent", call.name)
        line = {
            "call": call.id,
            "kind": call.name,
            "number": call.arguments["number"],
            "key": (call.meta or {}).get(META_KEY),
            "recorded": self.peek.attempts(call.id),
        }
        os.write(self.journal, f"{json.dumps(line)}\n".encode())
        os.fsync(self.journal)
        self.fate.meet("ran", call.name)
        if call.name in LOSES_ITS_ANSWER and call.id not in self.lost:
            self.lost.add(call.id)
            raise RpcError(-32000, "gone", fault=Fault.LOST)
        return {"content": [{"type": "text", "text": f"done {call.id}"}]}


def driver_of(url: str) -> Driver:
    if url.startswith("sqlite:"):
        return SqliteDriver(Path(url.removeprefix("sqlite:")))
    return PostgresDriver(url)


@dataclass(frozen=True)
class Program:
    """The state that all lives share."""

    url: str
    journal: str
    heads: str
    mutant: str
    asked: int
    tell: int

    def live(self, life: Life) -> None:
        # Between two tries there is nothing to wait for here, and nothing to tell.
        stamina.set_testing(True, attempts=3)
        stamina.instrumentation.set_on_retry_hooks([])
        ledger._POLL_SECONDS = _POLL  # noqa: SLF001  # pyright: ignore[reportPrivateUsage, reportConstantRedefinition] - else answers take half a second
        anyio.run(self._live, life)

    async def _live(self, life: Life) -> None:
        fate = Fate(life, self.tell)
        mutate(self.mutant)
        pipeline.STEPS = tuple(mortal(step, fate) for step in pipeline.STEPS)  # pyright: ignore[reportConstantRedefinition] - the seam of this test
        real: Any = Database(MortalDriver(driver_of(self.url), fate))  # pyright: ignore[reportArgumentType]
        names = [name for name in vars(real) if not name.startswith("_")]
        mortal_subjects = {name: MortalSubject(getattr(real, name), name, fate) for name in names}
        store = with_subjects(real, **mortal_subjects)
        emit = heads_file(Path(self.heads))
        journal = os.open(self.journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        async with open_audit(store, KEYS, emit=emit) as log:
            chain = log.chain
            assert chain is not None
            fate.keep_head = lambda: emit(chain.head) if chain.head else None
            peek = Peek(self.url)
            assert self.mutant or not peek.open_calls(), "a dead writer's call has no end"
            world = World(journal, fate, peek)
            world.tools = {kind: tool(kind, hints) for kind, hints in KINDS.items()}
            policy = Policy(trust={"*": Trust.TRUSTED})
            guard = Guard(
                world.find,
                world.run,
                Approvals.of(store, keys=KEYS),
                log,
                store.claims,
                policy=lambda: policy,
                announce=self._announce,
                patience=_PATIENCE if not self.mutant else 1,
            )
            answers = await _calls(guard, fate)
        await real.close()
        say({"answers": answers})

    def _announce(self, sentence: str) -> None:
        found = re.search(r"approval (\d+)", sentence)
        assert found is not None
        os.write(self.asked, f"{found[1]}\n".encode())


async def _calls(guard: Guard, fate: Fate) -> list[str]:
    """Return the calls of an agent in one round, the same in each life of the round."""
    answers: list[str] = []
    round_ = fate.life.round
    me = Principal(LOCAL, f"chat-{round_}")

    async def one(kind: str, numbers: Sequence[int]) -> None:
        _KIND.set(kind)

        async def progress(_done: float, _total: float | None, _message: str | None) -> None:
            fate.meet("waiting", kind)

        for number in numbers:
            meta = {META_KEY: f"{kind}-{number}"} if kind in KEYED else None
            given = {"number": number}
            answer = await guard.call(me, kind, given, meta=meta, progress=progress)
            answers.append(f"{kind}: {answer['content'][0]['text']}")

    async with anyio.create_task_group() as group:
        for kind in KINDS:
            group.start_soon(one, kind, (2 * round_, 2 * round_ + 1))
            if kind == "keyed":
                group.start_soon(one, kind, (2 * round_,))
    return answers


async def answer(url: str, asked: int) -> None:
    """The person: says yes to each question that is announced."""
    store = open_store(url)
    approvals = Approvals.of(store, keys=KEYS)
    rest = b""
    while True:
        await anyio.wait_readable(asked)
        read = os.read(asked, 65536)
        if not read:
            break
        *lines, rest = (rest + read).split(b"\n")
        for line in lines:
            found = await approvals.find(int(line))
            assert found is not None
            span = SPANS[found.question.tool]
            said = Answer(is_allowed=True, by="person", channel="console", span=span)
            await approvals.answer(found.number, said)
    await store.close()


def say(what: Mapping[str, Any]) -> None:
    os.write(1, f"{json.dumps(what)}\n".encode())


def forked(work: Callable[[], None]) -> int:
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        work()
        status = 0
    except BaseException:  # noqa: BLE001 - the edge of a process
        traceback.print_exc()
    finally:
        with contextlib.suppress(ValueError):
            sys.stderr.flush()
        os._exit(status)


def wait_for(pid: int, told: int) -> int:
    """Return how a life ended; it is killed at its request, or if it does not end."""
    end = os.pidfd_open(pid)
    while True:
        ready, _, _ = select.select([end, told], [], [], LONGEST)
        if told in ready:
            os.read(told, 1)
        if end in ready:
            break
        os.kill(pid, signal.SIGKILL)
        if not ready:
            say({"hung": pid})
    os.close(end)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def main() -> None:
    url, journal, heads, mutant = sys.argv[1:]
    asked_here, asked = os.pipe()
    told, tell = os.pipe()
    program = Program(url, journal, heads, mutant, asked, tell)

    def be_the_person() -> None:
        os.close(asked)
        anyio.run(answer, url, asked_here)

    person = forked(be_the_person)
    os.close(asked_here)
    for line in sys.stdin:
        life = Life(**json.loads(line))
        code = wait_for(forked(lambda: program.live(life)), told)  # noqa: B023 - run at once
        say({"end": code})
    os.close(asked)
    os.waitpid(person, 0)


if __name__ == "__main__":
    main()
