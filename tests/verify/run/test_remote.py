from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.server import MCPServer
from mcp_types import ToolAnnotations
from tests.connect.serving import serve_app

from sayso.connect import UrlTarget
from sayso.errors import UsageError
from sayso.verify.confirm import NOT_REPRODUCED
from sayso.verify.options import Terms
from sayso.verify.remote import LIMIT, RESTLESS
from sayso.verify.run import verify
from sayso.verify.session import UNCALLED
from sayso.verify.verdict import HintVerdict, Report

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
REPEATS = ToolAnnotations(read_only_hint=False, idempotent_hint=True)


def build(state: Path) -> MCPServer[Any]:
    """A server that keeps its state in a file, with honest tools and lying ones."""
    server: MCPServer[Any] = MCPServer("books", log_level="ERROR")
    numbers = count(1)

    def note(word: str) -> None:
        with state.open("a") as file:
            file.write(f"{word}\n")

    @server.tool(annotations=READS)
    def read_all() -> str:
        return state.read_text()

    @server.tool(annotations=READS)
    def peek() -> str:
        note("peeked")
        return "seen"

    @server.tool(annotations=READS)
    def warm_up() -> str:
        if "warm" not in state.read_text():
            note("warm")
        return "warm"

    @server.tool(annotations=READS)
    def draw() -> str:
        return f"number {next(numbers)}"

    @server.tool(annotations=REPEATS)
    def set_mark() -> str:
        note("mark")
        return "set"

    return server


async def run(
    folder: Path, *only: str, probe: Sequence[str] | None = None, calls_writes: bool = False
) -> Report:
    state = folder / "state"
    state.write_text("begun\n")
    async with serve_app(build(state).streamable_http_app()) as base:
        terms = Terms(
            target=UrlTarget("books", f"{base}/mcp"),
            only=only,
            probe=("cat", str(state)) if probe is None else tuple(probe),
            calls=4,
            calls_writes=calls_writes,
        )
        report: Report | UsageError
        try:
            with anyio.fail_after(60):
                report = await verify(terms)
        except UsageError as error:  # as it is, and not in the group of what serves the server
            report = error
    if isinstance(report, UsageError):
        raise report
    assert "supported" not in report.count()
    return report


def reading(report: Report, name: str) -> HintVerdict:
    return next(one for one in report.tools if one.name == name).hints["read_only"]


async def test_what_a_probe_shows_twice_refutes_a_reader_and_nothing_is_supported(
    tmp_path: Path,
) -> None:
    report = await run(tmp_path)
    found = reading(report, "peek")
    assert found.verdict == "refuted"
    assert [(str(one.observer), one.detail) for one in found.evidence] == [("probe", "+peeked")]
    honest = reading(report, "read_all")
    assert (honest.verdict, honest.is_partial, honest.reason) == ("not_exercised", True, LIMIT)
    assert reading(report, "warm_up").reason == NOT_REPRODUCED
    assert [one.name for one in report.layers if one.is_active] == ["output", "probe"]


async def test_answers_that_differ_are_told_and_refute_nothing(tmp_path: Path) -> None:
    report = await run(tmp_path, "draw")
    assert reading(report, "draw").verdict == "not_exercised"
    told = [one for one in report.tools[0].ignored if one.observer == "output"]
    assert len(told) == 1
    assert told[0].detail.startswith("-number 1\n")


async def test_a_tool_that_may_write_is_called_only_where_that_is_asked_for(
    tmp_path: Path,
) -> None:
    report = await run(tmp_path, "set_mark")
    assert (tmp_path / "state").read_text() == "begun\n"
    found = report.tools[0].hints["idempotent"]
    assert (found.verdict, found.reason) == ("not_exercised", UNCALLED)
    report = await run(tmp_path, "set_mark", calls_writes=True)
    assert report.tools[0].hints["idempotent"].verdict == "refuted"


async def test_without_a_probe_nothing_is_refuted(tmp_path: Path) -> None:
    report = await run(tmp_path, "peek", probe=())
    assert reading(report, "peek").verdict == "not_exercised"
    assert [one.detail for one in report.layers if one.name == "probe"] == ["no --probe was given"]


async def test_a_state_that_changes_by_itself_refutes_nothing(tmp_path: Path) -> None:
    report = await run(tmp_path, "read_all", probe=("cat", "/proc/sys/kernel/random/boot_id"))
    assert reading(report, "read_all").reason == LIMIT
    command = ("sh", "-c", "head -c 40 /dev/urandom | od -An -tx1")
    report = await run(tmp_path, "read_all", probe=command)
    assert reading(report, "read_all").verdict == "not_exercised"
    assert reading(report, "read_all").reason in (LIMIT, RESTLESS)


@pytest.mark.parametrize(
    ("probe", "why"),
    [
        (("false",), "the command exited with 1"),
        (("sayso-no-such-program",), "the command cannot be started"),
    ],
)
async def test_a_probe_that_fails_ends_the_run(
    tmp_path: Path, probe: tuple[str, ...], why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        await run(tmp_path, "read_all", probe=probe)
