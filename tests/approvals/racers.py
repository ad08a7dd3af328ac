"""A program of which several race: each line that it reads is a race, and a second one the start.

It says `ready` before the start and at its end what each of its runners got.
"""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import anyio
from tests.sample_tools import AMY, DELETE, WRITE, tool

from sayso.approvals import Answer, Approvals, Rounds
from sayso.audit import open_audit
from sayso.catalog import Tool
from sayso.guard import Call, Guard
from sayso.guard.call import META_KEY
from sayso.keys import Keyring
from sayso.policy import Effect, Limits, Policy, Reviewers, Rule
from sayso.store import Database, open_store

KEYS: Final = Keyring.of([b"k" * 32])
RUNNERS: Final = 32
TOOLS: Final = {"delete": tool("delete", DELETE), "write": tool("write", WRITE)}
CHANNELS: Final = frozenset({"console", "elicitation"})
POLICIES: Final = {
    "": Policy(channels=CHANNELS),
    "five": Policy(channels=CHANNELS, limits=Limits(calls=5)),
}
_MOST_CALLS: Final = 400


def reviewed_by(count: int) -> Policy:
    """Whatever is called, so many people must agree."""
    rule = Rule("many", Effect.CONFIRM, "it matters", 1, reviewers=Reviewers(count))
    return Policy(rules=(rule,), channels=CHANNELS)


@dataclass(frozen=True)
class Race:
    """What all runners do at once, on which database; what runs leaves a line in the journal."""

    url: str
    journal: str
    kind: str
    number: int = 0
    state: str | None = None
    policy: str = ""
    reviewers: int = 0

    @property
    def rules(self) -> Policy:
        return reviewed_by(self.reviewers) if self.reviewers else POLICIES[self.policy]


async def _find(name: str, _principal: object, /, *, is_fresh: bool = False) -> Tool | None:  # noqa: ARG001 - a seam
    return TOOLS.get(name)


def guard_of(race: Race, store: Database, log: Any) -> Guard:
    """A guard in front of a server that writes a journal."""

    async def run(call: Call) -> dict[str, Any]:
        call.is_sent = True
        file = os.open(race.journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, f"{json.dumps([call.id, call.arguments])}\n".encode())
        os.close(file)
        return {"content": [{"type": "text", "text": f"done by {call.id}"}]}

    policy = race.rules
    return Guard(
        _find,
        run,
        Approvals.of(store, keys=KEYS),
        log,
        store.claims,
        lambda: policy,
        keys=KEYS,
        patience=0,
    )


class Runner:
    """One of many that do the same at the same time."""

    def __init__(self, race: Race, guard: Guard, name: str) -> None:
        self.race, self.guard, self.name = race, guard, name

    async def answer(self) -> bool:
        said = Answer(is_allowed=True, by=self.name, channel="console")
        return await self.guard.approvals.answer(self.race.number, said)

    async def edit(self) -> bool:
        """One of all changes the arguments; the others agree to them as they were."""
        edit = {"n": 2} if self.name == "a0" else None
        said = Answer(is_allowed=True, by=self.name, channel="console", edit=edit)
        return await self.guard.approvals.answer(self.race.number, said)

    async def replay(self) -> str:
        accept = {"action": "accept", "content": {"approve": True}}
        rounds = Rounds({"io.sayso/approval": accept}, self.race.state)
        return await self._call("delete", {"n": 1}, rounds=rounds)

    async def delete(self) -> str:
        return await self._call("delete", {"n": 1})

    async def write(self) -> str:
        return await self._call("write", {"n": self.name})

    async def keyed(self) -> str:
        # The others wait for the first one's answer.
        return await self._call("write", {"n": 1}, meta={META_KEY: "one"})

    async def clear(self) -> int:
        """Call until a person would be asked again; the number of calls that ran."""
        for count in range(_MOST_CALLS):
            if not (await self._call("delete", {"n": self.name, "at": count})).startswith("done"):
                return count
            if count == 1:
                say("running")
        return _MOST_CALLS

    async def _call(self, name: str, arguments: Mapping[str, Any], **more: Any) -> str:
        answer = await self.guard.call(AMY, name, arguments, **more)
        return answer["content"][0]["text"] if "content" in answer else "asked"


def say(what: object) -> None:
    os.write(1, f"{json.dumps(what)}\n".encode())


async def run(race: Race, name: str) -> None:
    store = open_store(race.url)
    got: list[Any] = []
    async with open_audit(store, KEYS) as log:
        guard = guard_of(race, store, log)
        if race.kind == "keyed":
            guard = _patient(guard)

        async def one(index: int) -> None:
            got.append(await getattr(Runner(race, guard, f"{name}{index}"), race.kind)())

        say("ready")
        sys.stdin.readline()
        async with anyio.create_task_group() as group:
            for index in range(RUNNERS):
                group.start_soon(one, index)
    await store.close()
    say({"got": got})


def _patient(guard: Guard) -> Guard:
    from dataclasses import replace

    return replace(guard, patience=30)


def line_of(race: Race) -> str:
    return f"{json.dumps(asdict(race))}\n"


if __name__ == "__main__":
    for line in sys.stdin:
        anyio.run(run, Race(**json.loads(line)), sys.argv[1])
