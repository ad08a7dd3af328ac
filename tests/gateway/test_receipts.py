"""Receipts at the gateway: they count for what is started, and die with any change of it."""

import logging
import os
import py_compile
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from tests.connect.serving import SERVERS
from tests.gateway.changing import Changing, entry
from tests.gateway.serving import Served, serve
from tests.receipts.reports import key_in, report

from sayso.catalog import Tool, make_tool
from sayso.connect import CommandTarget, UrlTarget
from sayso.connect.package import describe_package
from sayso.console.tools.evidence import evidence_rows
from sayso.errors import UnreachableError
from sayso.gateway.receipts import PackageReceipts, check_package
from sayso.intent import Level, Source
from sayso.keys import SigningKey
from sayso.policy import LOCAL, Policy, Principal, load_policy, seen_under
from sayso.receipts import ReceiptCollection, load_receipts, write_receipt
from sayso.receipts.collection import DROPPED

pytestmark = pytest.mark.anyio

SILENT: dict[str, Any] = {}
"""A tool that declares nothing: without a receipt its calls wait for a person."""


@dataclass(frozen=True)
class World:
    """A server in a folder of its own, what it lists, a key, and where receipts lie."""

    folder: Path
    key: SigningKey

    @property
    def target(self) -> CommandTarget:
        server = str(self.folder / "package" / "server.py")
        return CommandTarget("c", sys.executable, (server, str(self.folder / "tools.json")))

    @property
    def policy(self) -> Policy:
        text = f'[trust.receipt_keys]\nci = {{ key = "{self.key.public}", calls = 10 }}\n'
        return load_policy(text)

    @property
    def receipts(self) -> ReceiptCollection:
        return load_receipts(self.folder / "receipts")

    def update(self) -> None:
        """Another version of the package; the process that runs ends with its next call."""
        server = self.folder / "package" / "server.py"
        server.write_text(f"{server.read_text()}\n# another\n")
        (self.folder / "die").touch()

    def say(self, **more: Any) -> None:
        Changing(self.folder / "tools.json").say(entry(SILENT, **more))

    def vouch(self, name: str = "r.json", **more: Any) -> None:
        """Sign a receipt of what there is now."""
        package = describe_package(self.target)
        assert package
        told = report(entry(SILENT), digest=package["digest"], **more).to_dict()
        told["package"] = package
        write_receipt(told, self.key, self.folder / "receipts" / name)


DYING = """            if (path.parent / "die").exists():
                (path.parent / "die").unlink()
                sys.exit()
"""


@pytest.fixture
def world(tmp_path: Path) -> World:
    for name in ("package", "receipts"):
        (tmp_path / name).mkdir()
    text = (SERVERS / "changing.py").read_text()
    mark = '        elif method == "tools/call":\n'
    assert mark in text
    (tmp_path / "package" / "server.py").write_text(text.replace(mark, mark + DYING))
    found = World(tmp_path, key_in(tmp_path))
    found.say()
    return found


@asynccontextmanager
async def running(world: World, policy: Policy | None = None) -> AsyncGenerator[Served]:
    under = policy or world.policy
    async with serve(
        world.target,
        store=world.folder / "sayso.db",
        patience=0.05,
        policy=lambda: under,
        receipts=world.receipts,
    ) as served:
        yield served


async def seen(served: Served) -> Tool:
    """The tool, as the policy of the moment sees it."""
    ((tools, _),) = [await one.tools() for one in served.gateway.upstreams.upstreams]
    (tool,) = tools
    return seen_under(served.gateway.guard.policy(), tool)


async def called(served: Served) -> str:
    async with Client(served.url) as client:
        result = await client.call_tool("c__note", {})
        return str(result.content[0])


async def test_what_a_receipt_shows_counts_and_the_client_is_told(world: World) -> None:
    world.vouch()
    async with running(world) as served:
        tool = await seen(served)
        assert (tool.level, tool.resolved.read_only.source) == (Level.READ, Source.VERIFIED)
        async with Client(served.url) as client:
            (listed,) = (await client.list_tools()).tools
            assert listed.annotations
            assert listed.annotations.read_only_hint is True
        assert "done" in await called(served)
        (row, *_) = evidence_rows(tool, world.policy)
        assert row.verified == "yes: supported"
        assert row.proof == "12 calls, receipt r.json, key ci"


async def test_without_a_trusted_key_the_call_waits_for_a_person(world: World) -> None:
    world.vouch()
    async with running(world, Policy()) as served:
        tool = await seen(served)
        assert tool.level is Level.DESTRUCTIVE
        assert "done" not in await called(served)
        (row, *_) = evidence_rows(tool, world.policy)
        assert (row.verified, row.proof[:8]) == ("yes: supported", "12 calls")
        other = load_policy(
            f'[trust.receipt_keys]\no = {{ key = "{key_in(world.folder, "o").public}" }}'
        )
        (row, *_) = evidence_rows(tool, other)
        assert row.proof == "The policy does not trust the key of the tool’s receipt."


async def test_too_few_calls_are_told_in_the_console(world: World) -> None:
    world.vouch()
    text = f'[trust.receipt_keys]\nci = {{ key = "{world.key.public}", calls = 13 }}\n'
    async with running(world, policy := load_policy(text)) as served:
        (row, *_) = evidence_rows(await seen(served), policy)
        assert row.verified == "not verified"
        assert "not counted: the receipt has 12 calls; the policy requires 13" in row.proof


async def test_an_old_receipt_does_not_count_after_an_update(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.vouch()
    async with running(world) as served:
        assert "done" in await called(served)
        world.update()
        with caplog.at_level(logging.WARNING, "sayso.gateway.receipts"):
            await called(served)  # the process ends
            assert "done" not in await called(served)
            assert "done" not in await called(served)
        tool = await seen(served)
        assert (tool.level, tool.receipts) == (Level.DESTRUCTIVE, ())
        assert [one.code for one in tool.findings] == [DROPPED]
        (told,) = [
            one.getMessage() for one in caplog.records if "no longer applies" in one.getMessage()
        ]
        assert told == (
            "c: receipt r.json no longer applies: server.py was changed. "
            "Run sayso verify again and sign a new receipt."
        )


async def test_a_changed_tool_has_lost_its_receipt(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.vouch()
    world.say(description="Deletes all.")
    with caplog.at_level(logging.WARNING, "sayso.gateway.receipts"):
        async with running(world) as served:
            tool = await seen(served)
            assert (tool.level, tool.receipts) == (Level.DESTRUCTIVE, ())
            assert "no longer applies: “note” has changed" in tool.findings[0].message
    assert "r.json no longer applies: “note” has changed" in caplog.text


async def test_a_change_that_a_person_must_accept_is_not_let_by_with_a_receipt(
    world: World,
) -> None:
    deletes = entry({"readOnlyHint": False, "destructiveHint": True})
    Changing(world.folder / "tools.json").say(deletes)
    async with running(world) as served:
        assert (await seen(served)).level is Level.DESTRUCTIVE
    Changing(world.folder / "tools.json").say(entry({"readOnlyHint": True}))
    package = describe_package(world.target)
    assert package
    told = report(entry({"readOnlyHint": True}), digest=package["digest"]).to_dict()
    told["package"] = package
    write_receipt(told, world.key, world.folder / "receipts" / "r.json")
    async with running(world) as served:
        tool = await seen(served)
        assert tool.receipts
        assert tool.level is Level.DESTRUCTIVE


@pytest.mark.parametrize("mode", ["unchecked", "timestamp"])
async def test_bytecode_that_says_other_than_its_source_is_not_loaded(
    world: World, mode: str
) -> None:
    """A receipt is about the source: bytecode next to it may come from another program."""
    folder, ran = world.folder / "package", world.folder / "ran.txt"
    server = folder / "server.py"
    lines = server.read_text().splitlines(keepends=True)
    last = max(index for index, line in enumerate(lines) if line.startswith("import "))
    server.write_text("".join([*lines[: last + 1], "import lib_beside\n", *lines[last + 1 :]]))
    lib = folder / "lib_beside.py"
    lib.write_text(f"open({str(ran)!r}, 'w').write('bytecode')\n")
    kind = {
        "unchecked": py_compile.PycInvalidationMode.UNCHECKED_HASH,
        "timestamp": py_compile.PycInvalidationMode.TIMESTAMP,
    }[mode]
    py_compile.compile(str(lib), doraise=True, invalidation_mode=kind)
    stamp = lib.stat().st_mtime_ns
    lib.write_text(f"open({str(ran)!r}, 'w').write('verified')\n")
    os.utime(lib, ns=(stamp, stamp))
    world.vouch()
    async with running(world) as served:
        assert "done" in await called(served)
    assert ran.read_text() == "verified"


async def test_a_test_that_is_added_beside_a_server_voids_no_receipt(world: World) -> None:
    world.vouch()
    (world.folder / "package" / "test_server.py").write_text("import server\n")
    async with running(world) as served:
        assert "done" in await called(served)


async def test_broken_receipts_stop_nothing(world: World) -> None:
    world.vouch()
    (world.folder / "receipts" / "a.json").write_text("{")
    assert world.receipts.problems
    async with running(world) as served:
        assert (await seen(served)).level is Level.READ


async def test_a_call_that_was_judged_by_another_package_is_not_sent(world: World) -> None:
    world.vouch()
    async with running(world) as served:
        tool = await seen(served)
        connection = served.gateway.upstreams.upstreams[0].of(Principal(LOCAL))
        check_package(tool, connection.package)
        check_package(make_tool("c", entry(SILENT)), None)
        for other in (
            None,
            world.receipts.receipts[0].package.__class__("script", "server", "", "0"),
        ):
            with pytest.raises(UnreachableError, match="nothing was sent"):
                check_package(tool, other)


async def test_what_cannot_be_told_is_said_once_and_a_url_is_never_looked_at(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.vouch()
    unknown = PackageReceipts(CommandTarget("sh", "sh", ("server.sh",)), world.receipts)
    with caplog.at_level(logging.WARNING, "sayso.gateway.receipts"):
        assert await unknown.find_package() is None
        assert await unknown.find_package() is None
    assert caplog.text.count("no receipt counts for this server, because") == 1
    assert (
        await PackageReceipts(
            UrlTarget("u", "https://example.com/mcp"), world.receipts
        ).find_package()
        is None
    )
    assert await PackageReceipts(world.target).find_package() is None
