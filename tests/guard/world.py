"""The guard's surroundings: a real store, a clock that can be set, a server that does as told."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, cast

import anyio
from tests.sample_tools import AMY, tool

from sayso.approvals import Answer, Approval, Approvals
from sayso.audit import AuditLog
from sayso.catalog import Tool
from sayso.guard import Call, Guard
from sayso.keys import Keyring
from sayso.policy import Policy, Principal, load_policy
from sayso.store import Database

META = {"io.sayso/intent": {"scopes": ["customers.write"]}}
KEYS = Keyring.of([b"k" * 32])


@dataclass
class Clock:
    """A clock that stands still until it is set."""

    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class World:
    """The guard's surroundings: a real store, and a server that the test controls."""

    store: Database
    tools: dict[str, Tool] = field(default_factory=dict[str, Tool])
    ran: list[Call] = field(default_factory=list[Call])
    fails: Exception | None = None
    at_run: list[str] = field(default_factory=list[str])
    starts: anyio.Event = field(default_factory=anyio.Event)
    hangs: bool = False
    is_sent: bool = True
    answer: Callable[[Call], dict[str, Any]] | None = None
    clock: Clock = field(default_factory=Clock)
    policy: Policy = field(default_factory=Policy)

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
        self.at_run = [row.event for row in await self.store.records.newest()]
        call.is_sent = self.is_sent
        self.starts.set()
        if self.hangs:
            await anyio.sleep_forever()
        if self.fails is not None:
            raise self.fails
        self.ran.append(call)
        if self.answer is not None:
            return self.answer(call)
        return {"content": [{"type": "text", "text": "done"}], "structuredContent": {"n": 1}}

    def guard(self, **more: Any) -> Guard:
        """A guard by the machine's clock."""
        return Guard(
            self.find,
            self.run,
            Approvals.of(self.store),
            AuditLog(self.store.records),
            self.store.claims,
            **more,
        )

    def timed(self, **more: Any) -> Guard:
        """A guard by this world's clock and policy, with little patience."""
        given: dict[str, Any] = {
            "patience": 0.05,
            "policy": lambda: self.policy,
            "keys": KEYS,
            **more,
        }
        approvals = Approvals.of(self.store, clock=self.clock)
        audit = AuditLog(self.store.records, self.clock)
        return Guard(
            self.find, self.run, approvals, audit, self.store.claims, clock=self.clock, **given
        )

    def rule(self, text: str) -> None:
        """Put another policy in force."""
        self.policy = load_policy(text, "policy.toml")

    def add(self, name: str, annotations: Any, **more: Any) -> str:
        """A tool of the server `demo`; what is no key of `tools/list` is its author's intent."""
        own = ("plan", "narrow", "when", "otherwise", "grant", "confirm", "dry_run")
        said = {key: more.pop(key) for key in own if key in more}
        made = tool(name, annotations, **more)
        self.tools[name] = replace(made, intent=replace(made.intent, **said))
        return name

    async def log(self) -> list[tuple[str, str | None]]:
        rows = await self.store.records.newest()
        return [(row.event, json.loads(row.body).get("outcome")) for row in reversed(rows)]

    async def line(self, event: str) -> dict[str, Any]:
        """The newest line of an event, with its payload."""
        rows = await AuditLog(self.store.records).newest()
        return next(json.loads(row.body) for row in rows if row.event == event)


def giving(value: Any) -> Callable[[Any], Any]:
    """An author's function that gives this, as it is then, whatever it is asked."""

    def give(_: Any) -> Any:
        return list(cast("list[Any]", value)) if isinstance(value, list) else value

    return give


def text(answer: dict[str, Any]) -> str:
    return answer["content"][0]["text"]


def yes(by: str = "console", **more: Any) -> Answer:
    given: dict[str, Any] = {"is_allowed": True, "channel": "console", **more}
    return Answer(by=by, **given)


async def asked(guard: Guard, number: int = 1) -> Approval:
    """The question of this number, as soon as it is put."""
    with anyio.fail_after(60):
        while (found := await guard.approvals.find(number)) is None:
            await anyio.sleep(0.002)
    return found


async def while_waiting(
    guard: Guard,
    name: str,
    then: Callable[[], Any],
    *,
    arguments: dict[str, Any] | None = None,
    principal: Principal = AMY,
    **more: Any,
) -> dict[str, Any]:
    """Make a call, do something once its question is put, and give the call's answer."""
    answers: list[dict[str, Any]] = []

    async def call() -> None:
        answers.append(await guard.call(principal, name, arguments or {}, **more))

    with anyio.fail_after(120):
        async with anyio.create_task_group() as group:
            group.start_soon(call)
            await asked(guard)
            await then()
    return answers[0]
