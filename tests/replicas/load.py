"""Clients of both eras that read, write and wait for people, and remember what they were told."""

import contextlib
import itertools
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx2
from anyio.abc import TaskStatus
from tests.connect.serving import RawClient, raw_client
from tests.replicas.town import Town

ERAS = ["2026-07-28", "2025-11-25"]
TRIES = 40


@dataclass
class Load:
    """What has been called, and what became of it as its caller sees it.

    `told` holds by number `ok`, `unknown`, `not run`, `waiting`, or, where there was no answer at
    all, `lost`.
    """

    town: Town
    told: dict[int, str] = field(default_factory=dict[int, str])
    reads: Counter[str] = field(default_factory=Counter[str])
    answered: Counter[str] = field(default_factory=Counter[str])
    faults: list[str] = field(default_factory=list[str])
    is_over: Callable[[], bool] = lambda: False
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    async def call(self, seed: int) -> None:
        """One client, until it is over."""
        chance = random.Random(seed)  # noqa: S311 - chance for a test, to be had again
        era = ERAS[seed % 2]
        while not self.is_over():
            try:
                async with raw_client(f"{self.town.public}/mcp", era) as client:
                    while not self.is_over():
                        await self._one(client, chance)
            except (httpx2.HTTPError, KeyError, AssertionError):
                # Its session could not be begun now.
                await anyio.sleep(0.1)

    async def _one(self, client: RawClient, chance: random.Random) -> None:
        number = next(self._numbers)
        kind = chance.choices(["read", "append", "slow", "drop"], [6, 4, 1, 1])[0]
        if kind == "read":
            self.reads[await self._outcome(client, "read", {"number": number})] += 1
        elif kind == "drop":
            await self._drop(client, number)
        else:
            seconds = {"seconds": chance.uniform(0.2, 1.5)} if kind == "slow" else {}
            self.told[number] = await self._outcome(client, "append", {"number": number, **seconds})

    async def _drop(self, client: RawClient, number: int) -> None:
        """A call that a person must approve; while it only waits, it is made again."""
        for _ in range(TRIES):
            self.told[number] = await self._outcome(client, "drop", {"number": number})
            if self.told[number] not in ("waiting", "not run"):
                return
            await anyio.sleep(0.1)

    async def _outcome(self, client: RawClient, tool: str, arguments: dict[str, Any]) -> str:
        try:
            answer = await client.ask(
                "tools/call", {"name": f"journal__{tool}", "arguments": arguments}
            )
        except (httpx2.HTTPError, KeyError, ValueError, IndexError) as error:
            self.faults.append(f"{tool}: {error!r}")
            return "lost"
        if "error" in answer:
            self.faults.append(f"{tool}: {answer['error']}")
            return "not run" if "Nothing was run" in answer["error"]["message"] else "lost"
        return outcome_of(answer["result"])

    async def answer(self, seed: int, *, task_status: TaskStatus[None]) -> None:
        """A person who is logged in, and answers each question at whichever replica is at hand."""
        chance = random.Random(seed)  # noqa: S311 - as above
        headers = {"host": self.town.public.removeprefix("http://")}
        async with httpx2.AsyncClient(headers=headers, timeout=10, trust_env=False) as browser:
            await log_in(browser, self.town)
            task_status.started()
            while True:
                one = chance.choice(self.town.replicas)
                with contextlib.suppress(httpx2.HTTPError):  # that one is away just now
                    await self._answer_all(browser, one.url)
                await anyio.sleep(0.1)

    async def _answer_all(self, browser: httpx2.AsyncClient, url: str) -> None:
        page = (await browser.get(f"{url}/console/")).text
        found = re.search(r'name="csrf" value="([^"]+)"', page)
        for number in set(re.findall(r'id="open-(\d+)"', page)):
            fields = {"csrf": found[1] if found else "", "verdict": "allow"}
            said = await browser.post(f"{url}/console/approvals/{number}/answer", data=fields)
            self.answered[str(said.status_code)] += 1


async def log_in(browser: httpx2.AsyncClient, town: Town) -> None:
    """By the link that one of them printed, at another one."""
    token = town.replicas[0].link.partition("token=")[2]
    said = await browser.post(f"{town.replicas[-1].url}/console/login", data={"token": token})
    assert said.status_code == 303, said.text


def outcome_of(result: dict[str, Any]) -> str:
    if not result.get("isError"):
        return "ok"
    text = result["content"][0]["text"]
    if result.get("_meta", {}).get("io.sayso/outcome") == "outcome_unknown":
        return "unknown"
    if text.startswith("Not run yet"):
        return "waiting"
    return "not run" if "Nothing was run" in text else f"other: {text}"
