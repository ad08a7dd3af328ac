"""The plugin in runs of pytest of its own, as its users have them."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest_plugins = ["pytester"]

SHOP = '''
import sayso
from mcp.server import MCPServer

def shop(delete=sayso.DELETE):
    server = MCPServer("shop")
    tools = sayso.bind(server)

    @tools.tool(sayso.READ_ONLY)
    def goods_list() -> list[str]:
        """List all goods."""
        return ["tea"]

    @tools.tool(delete, scopes={"shop.write"})
    def good_delete(name: str) -> str:
        """Delete one of the goods."""
        return f"deleted {name}"

    return server
'''

CONFIG = "[pytest]\nanyio_mode = auto\nfilterwarnings = error\n"
FILES = {
    "assertions": """
import sayso
from sayso.testing import *
from mcp.server import MCPServer
from shop import shop

def test_all_is_well():
    assert_annotated(shop())
    assert_preset(shop(), {"good_delete": sayso.DELETE})
    assert_level(shop(), {"goods_list": "read"})

def test_annotated():
    server = MCPServer("bare")
    server.add_tool(lambda: "", name="good_delete", description="Delete one.")
    assert_annotated(server)

def test_preset():
    assert_preset(shop(), {"goods_list": sayso.DELETE})

def test_level():
    assert_level(shop(), {"good_delete": "read"})

def test_prompt():
    assert_prompt_states_rules("Be nice.")

def test_behaves(tmp_path):
    server = MCPServer("shop")
    @sayso.bind(server).tool(sayso.READ_ONLY)
    def goods_list() -> str:
        (tmp_path / "seen").touch()
        return "tea"
    assert_behaves(server, probe=folder_state(tmp_path))

def test_surface():
    assert_surface(shop(), "surface.json")
""",
    "asynchronous": """
import sayso
from sayso.testing import read_surface, assert_annotated
from shop import shop

AMY = sayso.Principal("amy", scopes=frozenset({"shop.write"}))

async def test_somebody_is_asked(sayso_client, approver):
    approver.allow("good_delete")
    async with sayso_client(shop(), principal=AMY, approver=approver) as client:
        result = await client.call_tool("good_delete", {"name": "tea"})
    assert result.content[0].text == "deleted tea"
    assert [one.arguments for one in approver.asked] == [{"name": "tea"}]

async def test_a_surface():
    assert_annotated(await read_surface(shop()))

async def test_inside_of_a_loop():
    assert_annotated(shop())

async def test_a_failure_inside(sayso_client):
    async with sayso_client(shop()) as client:
        assert len((await client.list_tools()).tools) == 3
""",
    "plain": """
from sayso.testing import assert_annotated, assert_behaves
from shop import shop

def test_asserts():
    assert_annotated(shop())
    assert_behaves(shop())

async def test_clients(sayso_client):
    async with sayso_client(shop()) as client:
        await client.call_tool("goods_list", {})
""",
    "misspelt": """
import sayso
from shop import shop

async def test_somebody_is_asked(sayso_client, approver):
    approver.allow("goods_delete")
    amy = sayso.Principal("amy")
    async with sayso_client(
        shop(), principal=amy, approver=approver, patience=0.2
    ) as client:
        await client.call_tool("good_delete", {"name": "tea"})
""",
}

NOTES = """
import json
from collections import defaultdict

FAILURES = defaultdict(lambda: defaultdict(str))

def pytest_runtest_logreport(report):
    file, _, name = report.nodeid.partition("::")
    why = report.longreprtext if report.failed else ""
    FAILURES[file.removeprefix("test_")][name.removesuffix("[asyncio]")] += why

def pytest_sessionfinish():
    with open("failures.json", "w") as notes:
        json.dump(FAILURES, notes)
"""


@dataclass(frozen=True)
class Run:
    """What became of the tests of a run: by file and name, why each failed, or nothing."""

    home: Path
    failures: dict[str, dict[str, str]]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One run for all files that get by in one, since to start it takes longer than its tests."""
    folder = tmp_path_factory.mktemp("shared")
    (folder / "shop.py").write_text(SHOP)
    (folder / "pytest.ini").write_text(CONFIG)
    (folder / "conftest.py").write_text(NOTES)
    for name, text in FILES.items():
        (folder / f"test_{name}.py").write_text(text)
    words = ["-p", "no:cacheprovider", "--basetemp=tmp"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=folder,
        env={**env, "HOME": str(folder)},
        capture_output=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 1, done.stdout
    return Run(folder, json.loads((folder / "failures.json").read_text()))


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project with a server, and nothing that runs asynchronous tests but anyio's plugin."""
    pytester.makepyfile(shop=SHOP)
    pytester.makeini(CONFIG)
    return pytester


def run(project: pytest.Pytester, *words: str) -> tuple[int, str]:
    """The exit code of a run, and what it showed."""
    done = project.runpytest_subprocess("-p", "no:cacheprovider", *words)
    return int(done.ret), "\n".join([*done.outlines, *done.errlines])


SEVERAL = """
import contextlib, io, json, os, sys
import pytest

for delete, *words in json.loads(sys.argv[1]):
    os.environ["DELETE"] = delete
    with contextlib.redirect_stdout(io.StringIO()) as said:
        code = pytest.main(["-p", "no:cacheprovider", *words])
    with open("checks/surface.json") as recorded:
        print(json.dumps([int(code), said.getvalue(), json.load(recorded)]))
"""


def run_several(project: pytest.Pytester, *runs: tuple[str, ...]) -> list[tuple[int, str, Any]]:
    """Several runs after another in one process, as `run` each, and what was recorded after it.

    Each begins with what the server's tool is declared as. To start is what takes long.
    """
    done = project.run(sys.executable, "-c", SEVERAL, json.dumps(runs))
    return [json.loads(line) for line in done.outlines]


def test_each_assertion_passes_and_fails_in_a_plain_test_with_its_own_words(shared: Run) -> None:
    found = shared.failures["assertions.py"]
    expected = {
        "test_annotated": "bare: 1 of 1 tools are not fully declared",
        "test_preset": "readOnlyHint is declared true, expected false",
        "test_level": "good_delete: level destructive, expected read",
        "test_prompt": "the prompt lacks 5 of 5 rules; add for example",
        "test_behaves": "goods_list: read_only refuted: made seen with {}",
        "test_surface": "shop: surface.json does not exist",
    }
    assert {name for name, why in found.items() if why} == expected.keys()
    assert found["test_all_is_well"] == ""
    for name, words in expected.items():
        assert words in found[name]
        # A failure shows the test's own line, and nothing of sayso's inside.
        assert "test_assertions.py:" in found[name]
        assert "sayso/testing/" not in found[name]
    annotations = (
        'annotations {"title": "Delete good", "readOnlyHint": false, "destructiveHint": true'
    )
    assert annotations in found["test_annotated"]


def test_fixtures_serve_asynchronous_tests(shared: Run) -> None:
    found = shared.failures["asynchronous.py"]
    assert {name for name, why in found.items() if not why} == {
        "test_somebody_is_asked",
        "test_a_surface",
    }
    written = "an event loop is already running. Write assert_annotated(await sayso.testing"
    assert written in found["test_inside_of_a_loop"]
    assert "assert 1 == 3" in found["test_a_failure_inside"]
    assert "ExceptionGroup" not in found["test_a_failure_inside"]


def test_a_test_never_touches_the_store_of_its_user(shared: Run) -> None:
    assert shared.failures["plain.py"] == {"test_asserts": "", "test_clients": ""}
    kept = [*shared.home.rglob("*sayso.db*")]
    assert kept
    assert all(one.is_relative_to(shared.home / "tmp") for one in kept)
    assert not [one for one in kept if "test_asserts" in str(one)]


def test_a_script_that_is_misspelt_fails_its_test(shared: Run) -> None:
    (why,) = shared.failures["misspelt.py"].values()
    assert "did you mean 'good_delete'?" in why


def test_fixtures_serve_tests_that_run_their_own_loop(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\n")
    project.makepyfile(
        """
        import anyio
        import asyncio
        from shop import shop

        def test_anyio(sayso_client):
            async def main():
                async with sayso_client(shop()) as client:
                    return len((await client.list_tools()).tools)
            assert anyio.run(main) == 1
            assert asyncio.run(main()) == 1
        """
    )
    assert run(project, "-p", "no:anyio")[0] == 0


def test_a_surface_is_written_held_and_written_anew(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project.mkdir("checks")
    (folder / "test_shop.py").write_text(
        "from sayso.testing import assert_surface\n"
        "import sayso, os\n"
        "from shop import shop\n"
        "def test_surface():\n"
        "    delete = getattr(sayso, os.environ.get('DELETE', 'DELETE'))\n"
        "    assert_surface(shop(delete), 'surface.json')\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(project.path), prepend=os.pathsep)
    update = "--sayso-update"
    first, narrowed, recorded, widened = run_several(
        project, ("WRITE", update), ("DELETE",), ("DELETE", update), ("WRITE",)
    )

    code, shown, surface = first
    assert code == 0
    assert "surface.json: written; review it" in shown
    assert surface["tools"]["good_delete"]["level"] == "write"

    code, shown, surface = narrowed
    assert code == 0
    assert "surface.json: 2 changes without loosening; record with pytest" in shown
    assert surface == first[2]

    assert recorded[0] == 0
    assert recorded[2]["tools"]["good_delete"]["level"] == "destructive"

    code, shown, surface = widened
    assert code == 1
    assert "destructiveHint loosened: was true, is false (level destructive → write)" in shown
    assert surface == recorded[2]


def test_the_plugin_costs_other_runs_next_to_nothing(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Plugins of others that are installed here import what they like.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    project.makepyfile(
        """
        import sys

        def test_nothing_is_imported():
            heavy = {"mcp", "mcp_types", "pydantic", "sayso.connect", "sayso.guard"}
            assert heavy.isdisjoint(sys.modules)
            assert "sayso.testing.plugin" in sys.modules
        """
    )
    project.makeini("[pytest]\n")
    code, shown = run(project, "-p", "sayso.testing.plugin")
    assert code == 0, shown
    assert "= sayso =" not in shown


def test_without_the_plugin_the_assertions_are_there_all_the_same() -> None:
    code = (
        "import sys; from mcp.server import MCPServer; import sayso.testing as t;"
        "t.assert_annotated(MCPServer('crm')); print('pytest' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "False\n"
