"""A bound server's life: its questions, its store, its connections, its start and its end."""

import logging
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from tests.serve.serving import (
    AWAY,
    ERAS,
    KINDS,
    NO,
    YES,
    Studio,
    lines,
    make,
    offer,
    outcomes,
    text,
)

import sayso
from sayso.approvals import Answer, Approval, Approvals, Strength
from sayso.audit import AuditLog
from sayso.errors import SaysoError, StoreError, UsageError
from sayso.intent import Span
from sayso.policy import Policy
from sayso.serve import Tools, context

pytestmark = pytest.mark.anyio


@dataclass
class Bea:
    """Somebody who answers over a channel of her own."""

    is_allowed: bool = True
    name: str = "link"
    strength: Strength = Strength.OUT_OF_BAND
    span: Span = Span.ONCE
    asked: list[Approval] = field(default_factory=list[Approval])

    async def offer(self, approvals: Approvals, approval: Approval) -> None:
        self.asked.append(approval)
        said = Answer(is_allowed=self.is_allowed, by="bea", channel=self.name, span=self.span)
        await approvals.answer(approval.number, said)


# --- asking -----------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_allowed", [True, False])
async def test_a_channel_is_asked_and_the_client_is_not(
    kind: str, era: str, *, is_allowed: bool
) -> None:
    bea = Bea(is_allowed)
    offered = offer(kind, channels=[bea], patience=5)
    async with offered.client(era, NO if is_allowed else YES) as caller:
        result = await caller.call("customer_delete", {"customer_id": 2})
    assert (not result.is_error) is is_allowed
    assert offered.studio.done == (["delete 2"] if is_allowed else [])
    assert len(bea.asked) == 1
    assert caller.asked == []
    assert bea.asked[0].question.confirm == "Delete customer 2 for good?"


@pytest.mark.parametrize("era", ERAS)
async def test_a_policy_of_the_authors_is_what_counts(era: str) -> None:
    offered = offer("MCPServer", policy=Policy())
    async with offered.client(era, YES) as caller:
        result = await caller.call("customer_delete", {"customer_id": 2})
    assert "no person can be asked" in text(result)
    assert caller.asked == []


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_question_that_is_dismissed_can_be_answered_by_the_next_call(
    kind: str, era: str
) -> None:
    offered = offer(kind, patience=0.2)
    async with offered.client(era, AWAY) as caller:
        first = await caller.call("customer_delete", {"customer_id": 2})
        caller.answer = YES
        second = await caller.call("customer_delete", {"customer_id": 2})
    assert "approval 1" in text(first)
    assert text(second) == "deleted customer 2"
    assert offered.studio.done == ["delete 2"]


@pytest.mark.parametrize("kind", KINDS)
async def test_what_was_approved_is_what_runs_or_the_person_is_asked_again(kind: str) -> None:
    drafts = {7: "Dear Amy, 100 €"}
    sent: list[Any] = []
    bea = Bea()

    def declare(tools: Tools, _: Studio) -> None:
        def draft(invoice_id: int) -> dict[str, Any]:
            return {"changes": [{"action": "send", "after": drafts[invoice_id]}], "to": "amy@x.org"}

        @tools.tool(sayso.SEND, plan=draft, confirm="Send invoice {invoice_id} to {to}?")
        def invoice_send(invoice_id: int) -> None:
            del invoice_id
            plan = sayso.context().plan
            assert plan is not None
            sent.append(plan.changes[0]["after"])

    class Hasty(Bea):
        async def offer(self, approvals: Approvals, approval: Approval) -> None:
            if not self.asked:
                drafts[7] = "Dear Amy, 900 €"
            await super().offer(approvals, approval)

    bea = Hasty()
    offered = offer(kind, declare=declare, channels=[bea], patience=5)
    async with offered.client() as caller:
        assert not (await caller.call("invoice_send", {"invoice_id": 7})).is_error
    assert sent == ["Dear Amy, 900 €"]
    assert len(bea.asked) == 2
    assert bea.asked[1].question.confirm == "Send invoice 7 to amy@x.org?"
    told = bea.asked[1].question.plan
    assert told is not None
    assert told["changes"][0]["after"] == "Dear Amy, 900 €"


@pytest.mark.parametrize("kind", KINDS)
async def test_a_standing_answer_holds_for_the_conversation(kind: str) -> None:
    bea = Bea(span=Span.SESSION)

    def declare(tools: Tools, studio: Studio) -> None:
        @tools.tool(sayso.DELETE, grant=Span.SESSION)
        def customer_delete(customer_id: int) -> None:
            studio.done.append(f"delete {customer_id}")

    offered = offer(kind, declare=declare, channels=[bea], patience=5)
    async with offered.client() as caller:
        for number in (1, 2, 3):
            assert not (await caller.call("customer_delete", {"customer_id": number})).is_error
    assert len(bea.asked) == 1
    assert len(offered.studio.done) == 3


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_call_with_a_key_happens_once(kind: str, era: str) -> None:
    offered = offer(kind)
    given = {"id": 9, "name": "Zoe"}
    async with offered.client(era) as caller:
        key: Any = {"io.sayso/idempotency-key": "k1"}
        first = await caller.call("customer_write", given, meta=key)
        again = await caller.call("customer_write", given, meta=key)
        other = await caller.call("customer_write", {"id": 9, "name": "Amy"}, meta=key)
    assert first.structured_content == again.structured_content == given
    assert other.is_error
    assert offered.studio.done == ["write 9"]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_dry_run_only_reads_and_asks_nobody(kind: str) -> None:
    def declare(tools: Tools, studio: Studio) -> None:
        def narrow(customer_id: int) -> Any:
            return sayso.WRITE if customer_id == 1 else None

        @tools.tool(sayso.DELETE, dry_run=True, narrow=narrow)
        def customer_delete(customer_id: int, *, dry_run: bool = False) -> str:
            studio.done.append(f"{'would ' if dry_run else ''}delete {customer_id}")
            return "ok"

    offered = offer(kind, declare=declare)
    async with offered.client() as caller:
        await caller.call("customer_delete", {"customer_id": 2, "dry_run": True})
        await caller.call("customer_delete", {"customer_id": 1})
        refused = await caller.call("customer_delete", {"customer_id": 2})
    assert refused.is_error
    assert offered.studio.done == ["would delete 2", "delete 1"]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("how", ["tool", "add", "declare"])
@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP"])
async def test_a_named_dry_run_is_shown_as_the_plan(kind: str, how: str, era: str) -> None:
    bea = Bea()

    def declare(tools: Tools, studio: Studio) -> None:
        def customer_delete(customer_id: int, *, dryRun: bool = False) -> list[str]:  # noqa: N803 - its name in MCP
            studio.done.append(f"{'would ' if dryRun else ''}delete {customer_id}")
            return [f"customer {customer_id}"]

        if how == "tool":
            tools.tool(sayso.DELETE, dry_run="dryRun")(customer_delete)
        elif how == "add":
            schema = {"customer_id": {"type": "integer"}, "dryRun": {"type": "boolean"}}
            tools.add(
                name="customer_delete",
                intent=sayso.DELETE,
                input_schema={"type": "object", "properties": schema},
                execute=lambda _, given: customer_delete(**given),
                dry_run="dryRun",
            )
        else:
            server: Any = cast("Any", tools.framework).server
            register = server.tool() if kind == "MCPServer" else server.tool
            register(sayso.declare(sayso.DELETE, dry_run="dryRun")(customer_delete))

    offered = offer(kind, declare=declare, channels=[bea], patience=5)
    async with offered.client(era) as caller:
        answer = await caller.call("customer_delete", {"customer_id": 2})
    assert not answer.is_error
    assert [one.question.plan for one in bea.asked] == [{"changes": ["customer 2"], "total": 1}]
    assert offered.studio.done == ["would delete 2", "would delete 2", "delete 2"]


# --- long work --------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", KINDS)
async def test_progress_is_told_from_coroutines_and_from_plain_functions(
    kind: str, era: str
) -> None:
    def declare(tools: Tools, _: Studio) -> None:
        @tools.tool(sayso.WRITE)
        def plain() -> None:
            sayso.context().progress(1, 2, "half")
            sayso.context().progress_from_thread(2, 2, "all")

        @tools.tool(sayso.WRITE)
        async def eventual() -> None:
            await sayso.context().progress(1, 2, "half")
            await sayso.context().progress(2, 2, "all")

    told: list[tuple[float, float | None, str | None]] = []

    async def listen(done: float, total: float | None, message: str | None) -> None:
        told.append((done, total, message))

    offered = offer(kind, declare=declare)
    async with offered.client(era) as caller:
        for name in ("plain", "eventual"):
            result = await caller.call(name, progress_callback=listen)
            assert not result.is_error, text(result)
    assert told == [(1, 2, "half"), (2, 2, "all")] * 2
    assert [one.get("reached") for one in await lines(offered.url)] == [None, [2, 2]] * 2


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["plain", "eventual"])
async def test_a_cancelled_call_stops_and_what_was_done_is_on_record(
    kind: str, era: str, name: str
) -> None:
    begun, ended = anyio.Event(), anyio.Event()
    steps: list[int] = []

    def declare(tools: Tools, _: Studio) -> None:
        @tools.tool(sayso.WRITE)
        def plain() -> None:
            ctx = sayso.context()
            try:
                for step in range(1, 10_000):
                    ctx.progress(step, 10_000)
                    ctx.check_cancelled()
                    steps.append(step)
                    anyio.from_thread.run_sync(begun.set)
            finally:
                anyio.from_thread.run_sync(ended.set)

        @tools.tool(sayso.WRITE)
        async def eventual() -> None:
            try:
                for step in range(1, 10_000):
                    await sayso.context().progress(step, 10_000)
                    steps.append(step)
                    begun.set()
            finally:
                ended.set()

    offered = offer(kind, declare=declare)
    with anyio.fail_after(60):
        async with offered.client(era) as caller, anyio.create_task_group() as group:
            group.start_soon(caller.call, name)
            await begun.wait()
            group.cancel_scope.cancel()
        await ended.wait()
    assert len(steps) < 9_999
    last = (await lines(offered.url))[-1]
    assert last["outcome"] == "outcome_unknown"
    assert last["reached"][0] >= len(steps)


async def test_outside_of_a_call_there_is_no_context() -> None:
    with pytest.raises(UsageError, match="no call is running"):
        context()
    with pytest.raises(UsageError, match="is not running"):
        _ = offer("Server").tools.approvals


# --- connections, restarts, lifespans ---------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
async def test_many_connections_at_once_have_one_log_that_verifies(kind: str) -> None:
    offered = offer(kind)

    async def work(number: int) -> None:
        async with offered.client(ERAS[number % 2]) as caller:
            for _ in range(3):
                given = {"id": number, "name": "x"}
                assert not (await caller.call("customer_write", given)).is_error
            assert not (await caller.call("customer_get", {"customer_id": number})).is_error

    async with anyio.create_task_group() as group:
        for number in range(1, 6):
            group.start_soon(work, number)
    assert sorted(offered.studio.done) == [f"write {one}" for one in range(1, 6) for _ in range(3)]
    assert await outcomes(offered.url) == ["ok"] * 20


@pytest.mark.parametrize("kind", KINDS)
async def test_an_approval_of_before_the_restart_runs_once_after_it(
    kind: str, tmp_path: Path
) -> None:
    first = offer(kind, tmp_path, console="http://127.0.0.1:1/", patience=0.05)
    async with first.client() as caller:
        assert (await caller.call("customer_delete", {"customer_id": 2})).is_error
        said = Answer(is_allowed=True, by="bea", channel="console")
        assert await first.tools.approvals.answer(1, said)
    second = offer(kind, tmp_path, console="http://127.0.0.1:1/", patience=0.05)
    async with second.client() as caller:
        assert not (await caller.call("customer_delete", {"customer_id": 2})).is_error
        assert (await caller.call("customer_delete", {"customer_id": 2})).is_error
    assert (first.studio.done, second.studio.done) == ([], ["delete 2"])
    assert "ok" in await outcomes(second.url)


@pytest.mark.parametrize("kind", KINDS)
async def test_one_server_can_be_run_again_after_it_has_ended(kind: str) -> None:
    offered = offer(kind)
    for _ in range(2):
        async with offered.client() as caller:
            assert not (await caller.call("customer_get", {"customer_id": 1})).is_error
    assert await outcomes(offered.url) == ["ok", "ok"]


@pytest.mark.parametrize("kind", KINDS)
async def test_the_authors_lifespan_runs_inside(kind: str) -> None:
    seen: list[str] = []

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncGenerator[dict[str, str]]:
        seen.append("opened")
        yield {"key": "value"}
        seen.append("closed")

    def declare(tools: Tools, _: Studio) -> None:
        @tools.tool(sayso.READ_ONLY)
        def look() -> str:
            seen.append("called")
            return "seen"

    offered = offer(kind, server=make(kind, lifespan=lifespan), declare=declare)
    async with offered.client() as caller:
        await caller.call("look")
    assert seen == ["opened", "called", "closed"]
    assert await outcomes(offered.url) == ["ok"]


async def test_a_store_that_cannot_be_opened_stops_the_server_with_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    offered = offer("Server")
    runtime = offered.tools.runtime
    assert runtime is not None
    from dataclasses import replace

    runtime.settings = replace(runtime.settings, store=f"sqlite:{tmp_path / 'file' / 'a.db'}")
    async with AsyncExitStack() as stack:
        with pytest.raises(SaysoError):
            await stack.enter_async_context(runtime.opened())


# --- what the author is told ------------------------------------------------------------------


@pytest.mark.parametrize("infer", [False, True])
@pytest.mark.parametrize("kind", KINDS)
async def test_what_declares_nothing_is_told_of_at_start_and_counts_as_destructive(
    kind: str, caplog: pytest.LogCaptureFixture, *, infer: bool
) -> None:
    server = make(kind)

    def customer_list() -> str:
        """List all customers. Read-only."""
        return "all"

    def customer_delete(customer_id: int) -> None:
        """Delete a customer for ever."""

    def declare(tools: Tools, _: Studio) -> None:
        tools.tool()(customer_list)
        if kind != "Server":
            server.tool(name="customer_delete")(customer_delete)

    offered = offer(kind, server=server, declare=declare, infer=infer)
    with caplog.at_level(logging.WARNING, "sayso"):
        async with offered.client() as caller:
            told = caplog.text
            result = await caller.call("customer_list")
            found = {one.name: one for one in (await caller.client.list_tools()).tools}
    assert "'customer_list' declares nothing" in told
    assert "its name and texts suggest @tools.tool(sayso.READ_ONLY)\n" in told
    assert (not result.is_error) is infer
    hints = found["customer_list"].annotations
    assert hints is not None
    assert hints.read_only_hint is infer
    assert hints.title == "List customer"
    if kind != "Server":
        assert "'customer_delete' declares nothing" in told
        assert "@sayso.declare(sayso.DELETE.but(idempotent=True))" in told
        deleted = found["customer_delete"].annotations
        assert deleted is not None
        assert deleted.destructive_hint is True


@pytest.mark.parametrize("is_kept", [False, True])
async def test_only_a_log_that_is_kept_tells_its_ends(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, *, is_kept: bool
) -> None:
    server = make("MCPServer")
    sayso.bind(server, store=f"sqlite:{tmp_path / 'sayso.db'}" if is_kept else "temporary")
    with caplog.at_level(logging.INFO, "sayso"):
        async with Client(server) as client:
            # A log is begun by the first call, whatever becomes of it.
            with pytest.raises(MCPError):
                await client.call_tool("nothing", {})
    assert ("audit head" in caplog.text) is is_kept


# --- what goes wrong inside -------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("error", [StoreError("the disk is full: hunter2"), KeyError("hunter2")])
async def test_what_breaks_inside_sayso_runs_nothing_and_says_nothing(
    era: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered = offer("MCPServer", principal=None)

    async def broken(*_: Any, **__: Any) -> Any:
        raise error

    async with offered.client(era) as caller:
        monkeypatch.setattr(AuditLog, "refused", broken)
        with pytest.raises(MCPError) as caught:
            await caller.call("nothing")
    assert "hunter2" not in str(caught.value)
    words = "Nothing was run" if isinstance(error, StoreError) else "incident"
    assert words in str(caught.value)


async def test_a_policy_file_that_changes_counts_from_then_on(tmp_path: Path) -> None:
    rules = tmp_path / "policy.toml"
    rules.write_text("")
    told: list[str] = []
    offered = offer("Server", policy=rules, announce=told.append)
    async with offered.client() as caller:
        assert len(await caller.names()) == 4
        rules.write_text(
            '[[rules]]\nname = "hide"\neffect = "hide"\nwhen = { tool = "customer_write" }\n'
        )
        with anyio.fail_after(60):
            while len(await caller.names()) == 4:
                await anyio.sleep(0.005)
    assert "is in effect" in told[0]


def keys_in(folder: Path) -> Path:
    (found,) = [one for one in folder.iterdir() if "key" in one.name]
    return found


async def test_keys_that_cannot_be_read_stop_the_server(tmp_path: Path) -> None:
    first = offer("Server", tmp_path)
    async with first.client():
        pass
    keys = keys_in(tmp_path)
    keys.write_text("nonsense")
    runtime = offer("Server", tmp_path).tools.runtime
    assert runtime is not None
    with pytest.raises(SaysoError):
        async with runtime.opened():
            pass
    keys.unlink()
    async with runtime.opened():
        pass
