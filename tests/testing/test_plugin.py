"""The plugin in runs of pytest of its own, as its users have them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

SHOP = '''
import avow
from mcp.server import MCPServer

def shop(delete=avow.DELETE):
    server = MCPServer("shop")
    tools = avow.bind(server)

    @tools.tool(avow.READ_ONLY)
    def goods_list() -> list[str]:
        """List all goods."""
        return ["tea"]

    @tools.tool(delete, scopes={"shop.write"})
    def good_delete(name: str) -> str:
        """Delete one of the goods."""
        return f"deleted {name}"

    return server
'''


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project with a server, and nothing that runs asynchronous tests but anyio's plugin."""
    pytester.makepyfile(shop=SHOP)
    pytester.makeini("[pytest]\nanyio_mode = auto\nfilterwarnings = error\n")
    return pytester


def run(project: pytest.Pytester, *words: str) -> tuple[int, str]:
    """The exit code of a run, and what it showed."""
    done = project.runpytest_subprocess("-p", "no:cacheprovider", *words)
    return int(done.ret), "\n".join([*done.outlines, *done.errlines])


def test_each_assertion_passes_and_fails_in_a_plain_test_with_its_own_words(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        """
        import avow
        from avow.testing import *
        from mcp.server import MCPServer
        from shop import shop

        def test_all_is_well():
            assert_annotated(shop())
            assert_preset(shop(), {"good_delete": avow.DELETE})
            assert_level(shop(), {"goods_list": "read"})

        def test_annotated():
            server = MCPServer("bare")
            server.add_tool(lambda: "", name="good_delete", description="Delete one.")
            assert_annotated(server)

        def test_preset():
            assert_preset(shop(), {"goods_list": avow.DELETE})

        def test_level():
            assert_level(shop(), {"good_delete": "read"})

        def test_prompt():
            assert_prompt_states_rules("Be nice.")

        def test_behaves(tmp_path):
            server = MCPServer("shop")
            @avow.bind(server).tool(avow.READ_ONLY)
            def goods_list() -> str:
                (tmp_path / "seen").touch()
                return "tea"
            assert_behaves(server, probe=folder_state(tmp_path))

        def test_surface():
            assert_surface(shop(), "surface.json")
        """
    )
    code, shown = run(project)
    assert code == 1
    assert "1 passed" in shown
    assert "6 failed" in shown
    for words in (
        "bare: 1 of 1 tools are not declared in full",
        'annotations {"title": "Delete good", "readOnlyHint": false, "destructiveHint": true',
        "readOnlyHint is declared true, expected false",
        "good_delete: its level is destructive, expected read",
        "the prompt does not state 5 of 5 rules; say, for example",
        "goods_list: read_only refuted: made seen with {}",
        "shop: there is no surface.json to hold it against",
    ):
        assert words in shown
    # A failure shows the test's own line, and nothing of avow's inside.
    assert "avow/testing/" not in re.sub(r"^avow.*$", "", shown, flags=re.MULTILINE)


def test_fixtures_serve_asynchronous_tests(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import avow
        from avow.testing import read_surface, assert_annotated
        from shop import shop

        AMY = avow.Principal("amy", scopes=frozenset({"shop.write"}))

        async def test_somebody_is_asked(avow_client, approver):
            approver.allow("good_delete")
            async with avow_client(shop(), principal=AMY, approver=approver) as client:
                result = await client.call_tool("good_delete", {"name": "tea"})
            assert result.content[0].text == "deleted tea"
            assert [one.arguments for one in approver.asked] == [{"name": "tea"}]

        async def test_a_surface():
            assert_annotated(await read_surface(shop()))

        async def test_inside_of_a_loop():
            assert_annotated(shop())

        async def test_a_failure_inside(avow_client):
            async with avow_client(shop()) as client:
                assert len((await client.list_tools()).tools) == 3
        """
    )
    code, shown = run(project)
    assert code == 1
    assert "an event loop runs here already. Write assert_annotated(await avow.testing" in shown
    assert "ExceptionGroup" not in shown


def test_fixtures_serve_tests_that_run_their_own_loop(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\n")
    project.makepyfile(
        """
        import anyio
        import asyncio
        from shop import shop

        def test_anyio(avow_client):
            async def main():
                async with avow_client(shop()) as client:
                    return len((await client.list_tools()).tools)
            assert anyio.run(main) == 1
            assert asyncio.run(main()) == 1
        """
    )
    assert run(project, "-p", "no:anyio")[0] == 0


def test_a_test_never_touches_the_store_of_its_user(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        from avow.testing import assert_annotated, assert_behaves
        from shop import shop

        def test_asserts():
            assert_annotated(shop())
            assert_behaves(shop())

        async def test_clients(avow_client):
            async with avow_client(shop()) as client:
                await client.call_tool("goods_list", {})
        """
    )
    code, _ = run(project)
    assert code == 0
    home = Path(project.path)  # pytester's runs have their home there
    assert not [one for one in home.rglob("*avow.db*") if "test_clients" not in str(one)]


def test_a_surface_is_written_held_and_written_anew(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project.mkdir("checks")
    (folder / "test_shop.py").write_text(
        "from avow.testing import assert_surface\n"
        "import avow, os\n"
        "from shop import shop\n"
        "def test_surface():\n"
        "    delete = getattr(avow, os.environ.get('DELETE', 'DELETE'))\n"
        "    assert_surface(shop(delete), 'surface.json')\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(project.path), prepend=os.pathsep)
    monkeypatch.setenv("DELETE", "WRITE")
    code, shown = run(project, "--avow-update")
    assert code == 0
    assert "surface.json: written; review it" in shown
    recorded = (folder / "surface.json").read_text()
    assert json.loads(recorded)["tools"]["good_delete"]["level"] == "write"

    monkeypatch.setenv("DELETE", "DELETE")
    code, shown = run(project)
    assert code == 0
    assert "surface.json: 2 changes that permit no more; record them with pytest" in shown
    assert (folder / "surface.json").read_text() == recorded
    assert run(project, "--avow-update")[0] == 0

    monkeypatch.setenv("DELETE", "WRITE")
    code, shown = run(project)
    assert code == 1
    assert "destructiveHint loosened: was true, is false (level destructive → write)" in shown


def test_a_script_that_is_misspelt_fails_its_test(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import avow
        from shop import shop

        async def test_somebody_is_asked(avow_client, approver):
            approver.allow("goods_delete")
            amy = avow.Principal("amy")
            async with avow_client(
                shop(), principal=amy, approver=approver, patience=0.2
            ) as client:
                await client.call_tool("good_delete", {"name": "tea"})
        """
    )
    code, shown = run(project)
    assert code == 1
    assert "did you mean 'good_delete'?" in shown


def test_the_plugin_costs_other_runs_next_to_nothing(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import sys

        def test_nothing_is_imported():
            heavy = {"mcp", "mcp_types", "pydantic", "avow.connect", "avow.guard"}
            assert heavy.isdisjoint(sys.modules)
            assert "avow.testing.plugin" in sys.modules
        """
    )
    project.makeini("[pytest]\n")
    code, shown = run(project, "-p", "no:anyio")
    assert code == 0, shown
    assert "= avow =" not in shown


def test_without_the_plugin_the_assertions_are_there_all_the_same() -> None:
    code = (
        "import sys; from mcp.server import MCPServer; import avow.testing as t;"
        "t.assert_annotated(MCPServer('crm')); print('pytest' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "False\n"
