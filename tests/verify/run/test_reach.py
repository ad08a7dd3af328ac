"""Tools that accept little are reached: each needs what an error, or an earlier tool, shows."""

import sys
from pathlib import Path

import anyio
import pytest

from sayso.connect import CommandTarget
from sayso.errors import UncontainedError
from sayso.sandbox.probe import check_layers, probe_layers
from sayso.verify.options import Terms
from sayso.verify.run import verify
from sayso.verify.verdict import ToolReport

ARCHIVE = Path(__file__).parent / "archive.py"
pytestmark = pytest.mark.process


async def verified() -> dict[str, ToolReport]:
    try:
        check_layers(await probe_layers(), is_uncontained=False)
    except UncontainedError as error:
        pytest.skip(str(error))
    target = CommandTarget("archive", sys.executable, (str(ARCHIVE),))
    with anyio.fail_after(300):
        report = await verify(Terms(target=target, calls=6))
    return {tool.name: tool for tool in report.tools}


@pytest.fixture(scope="module")
def found() -> dict[str, ToolReport]:
    return anyio.run(verified)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("store_page", id="a bare file name where a path is refused"),
        pytest.param("read_page", id="a file that an earlier tool made"),
        pytest.param("measure", id="a folder where a folder is wanted"),
        pytest.param("run_query", id="a query that needs no table of the sample"),
        pytest.param("open_draft", id="a thing that a later tool saves"),
        pytest.param("set_project_root", id="a folder that an error asks for"),
        pytest.param("index_project", id="a project that was registered"),
        pytest.param("find_symbol", id="a project that was registered and indexed"),
    ],
)
def test_a_tool_is_reached(found: dict[str, ToolReport], name: str) -> None:
    assert found[name].reach.successes, found[name].error
