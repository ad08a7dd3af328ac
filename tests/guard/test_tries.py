"""Several tries of one call, and what is said of it when they end in different ways."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pytest
import stamina
from tests.databases import Place, with_subjects
from tests.sample_tools import AMY, READ, WRITE, tool

from sayso.approvals import Approvals
from sayso.audit import AuditLog
from sayso.catalog import Tool
from sayso.connect import Fault, RpcError
from sayso.errors import StoreError, UnreachableError
from sayso.guard import Call, Guard
from sayso.guard.call import META_KEY
from sayso.intent import DEPLOY, Trust, write_annotations
from sayso.policy import Effect, Limits, Policy, Rule
from sayso.store import Claim, Claims, Database, Records, open_store

pytestmark = pytest.mark.anyio

TOOL = tool("put", {**WRITE, "idempotentHint": True})
LOST: Final[Exception] = RpcError(-32000, "gone", fault=Fault.LOST)
NOT_SENT: Final[Exception] = RpcError(-32000, "no connection", fault=Fault.NOT_SENT)
DONE = {"content": [{"type": "text", "text": "done"}]}
KEY = {META_KEY: "k"}
ALLOW = Rule("deploys", Effect.ALLOW, "ours", 1)


@pytest.fixture(autouse=True)
def at_once() -> Iterator[None]:
    """Nothing waits between two tries."""
    with stamina.set_testing(testing=True, attempts=3):
        yield


@dataclass
class Server:
    """A server with one answer for each try; `None` is an answer that arrives."""

    store: Database
    ends: list[Exception | None]
    trust: Mapping[str, Trust] = field(default_factory=lambda: {"*": Trust.TRUSTED})
    limits: Limits = field(default_factory=Limits)
    tries: int = 0
    tool: Tool = TOOL
    rules: tuple[Rule, ...] = ()

    async def find(self, _: str, _principal: object, /, *, is_fresh: bool = False) -> Tool:  # noqa: ARG002 - a seam
        return self.tool

    async def run(self, call: Call) -> dict[str, Any]:
        self.tries += 1
        end = self.ends.pop(0)
        if isinstance(end, UnreachableError):
            raise end
        call.is_sent = True
        if end is not None:
            raise end
        return DONE

    async def call(self, meta: Mapping[str, Any] | None = None) -> tuple[str, str]:
        """One call's text, and its end in the log."""
        policy = Policy(trust=self.trust, limits=self.limits, rules=self.rules)
        log = AuditLog(self.store.records)
        approvals = Approvals.of(self.store)
        guard = Guard(
            self.find,
            self.run,
            approvals,
            log,
            self.store.claims,
            policy=lambda: policy,
            patience=1,
        )
        answer = await guard.call(AMY, "put", {}, meta=meta)
        body = (await log.newest(limit=1))[0].body
        return answer["content"][0]["text"], body


@pytest.mark.parametrize("second", [NOT_SENT, UnreachableError("cannot start", where="demo")])
async def test_a_try_that_does_not_arrive_does_not_undo_one_that_may_have_run(
    store: Database, second: Exception
) -> None:
    server = Server(store, [LOST, second, second])
    text, end = await server.call()
    assert server.tries == 3
    assert "may have run or not" in text
    assert '"outcome_unknown"' in end


async def test_a_deploy_whose_answer_was_lost_is_not_sent_again(store: Database) -> None:
    deploy = tool("deploy", write_annotations(DEPLOY.hints, None))
    server = Server(store, [LOST, None], tool=deploy, rules=(ALLOW,))

    text, end = await server.call()

    assert server.tries == 1
    assert "may have run or not" in text
    assert '"outcome_unknown"' in end


async def test_a_limit_that_stops_a_second_try_does_not_undo_the_first(store: Database) -> None:
    server = Server(store, [LOST], limits=Limits(calls=1))
    text, end = await server.call()
    assert "may have run or not" in text
    assert '"outcome_unknown"' in end


class Full:
    """A real store whose disk is full after some attempts, or before an answer is kept."""

    def __init__(self, subject: Records | Claims, method: str, after: int) -> None:
        self._subject, self._method, self._left = subject, method, after

    def __getattr__(self, name: str) -> Any:
        found: Callable[..., Any] = getattr(self._subject, name)
        if name != self._method:
            return found
        self._left -= 1
        if self._left < 0:
            raise StoreError("the disk is full")
        return found


async def test_a_second_try_that_cannot_be_recorded_does_not_undo_the_first(
    store: Database,
) -> None:
    full = with_subjects(store, records=Full(store.records, "begin", 1))
    text, end = await Server(full, [LOST, None]).call()
    assert "may have run or not" in text
    assert '"outcome_unknown"' in end


async def test_a_key_is_given_back_when_the_server_was_not_reached(store: Database) -> None:
    server = Server(store, [NOT_SENT] * 3)
    assert "cannot be reached" in (await server.call(KEY))[0]
    server.ends = [None]
    assert (await server.call(KEY))[0] == "done"
    assert (await server.call(KEY))[0] == "done"
    assert server.tries == 4


async def test_an_answer_that_cannot_be_kept_for_its_key_still_arrives(store: Database) -> None:
    full = with_subjects(store, claims=Full(store.claims, "settle", 0))
    server = Server(full, [None])
    text, end = await server.call(KEY)
    assert text == "done"
    assert '"ok"' in end
    assert "has no known answer" in (await server.call(KEY))[0]
    assert server.tries == 1


class Slow:
    """A real store that was looked at just before the first call's answer was kept."""

    def __init__(self, claims: Claims) -> None:
        self._claims, self._is_early = claims, True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._claims, name)

    async def find(self, key: str) -> Claim | None:
        found = await self._claims.find(key)
        assert found is not None
        is_early, self._is_early = self._is_early, False
        return replace(found, answer=None) if is_early else found


async def test_an_answer_that_is_kept_while_it_is_looked_for_is_found(store: Database) -> None:
    server = Server(with_subjects(store, claims=Slow(store.claims)), [None])
    assert [(await server.call(KEY))[0] for _ in range(2)] == ["done", "done"]


async def test_a_read_with_a_key_is_on_disk_before_the_server_sees_it(place: Place) -> None:
    mine, other = open_store(place.url), open_store(place.url)
    seen: list[str] = []

    async def run(_: Call) -> dict[str, Any]:
        seen.extend(row.event for row in await other.records.newest())
        return DONE

    async def find(_: str, _principal: object, /, *, is_fresh: bool = False) -> Tool:  # noqa: ARG001 - a seam
        return tool("get", READ)

    guard = Guard(find, run, Approvals.of(mine), AuditLog(mine.records), mine.claims)
    await guard.call(AMY, "get", {}, meta=KEY)
    assert seen == ["attempt"]
    await mine.close()
    await other.close()
