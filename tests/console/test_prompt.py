"""The prompt page: the system prompt as it stands, for one caller."""

import json
from html import unescape
from pathlib import Path

import anyio.to_thread
import pytest
from tests.console.conftest import Bench
from tests.console.test_approvals import plain

from sayso.cli import main
from sayso.policy import load_policy

pytestmark = pytest.mark.anyio


def prompt_of(page: str) -> str:
    """The prompt that a page shows."""
    return unescape(page.partition('id="prompt"')[2].partition(">\n")[2].partition("</pre>")[0])


async def test_the_prompt_is_the_one_that_the_command_writes(
    bench: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "studio.json"
    saved.write_text(json.dumps({"tools": bench.shelf.raws}))
    async with bench.browser() as browser:
        page = await browser.get("/console/prompt")

    words = ["prompt", str(saved), "--names", "gateway"]
    assert await anyio.to_thread.run_sync(main, words) == 0
    written = capsys.readouterr().out
    assert prompt_of(page.text).strip() == written.strip()


async def test_it_says_for_whom_it_is_and_about_how_long(bench: Bench) -> None:
    async with bench.browser() as browser:
        words = plain((await browser.get("/console/prompt")).text)

    assert "For this machine’s user: 2 tools, about " in words
    assert "tokens estimated: models count differently" in words


async def test_it_is_another_for_another_caller(bench: Bench) -> None:
    bench.shelf.raws[0]["_meta"] = {"io.sayso/intent": {"scopes": ["crm.write"]}}
    policy = load_policy(
        '[[rules]]\nname = "no"\neffect = "hide"\nreason = "not for bo"\n'
        'when = { subject = "bo" }\n'
    )
    object.__setattr__(bench.gateway.guard, "policy", lambda: policy)
    async with bench.browser() as browser:
        pages = [
            plain((await browser.get("/console/prompt", params=asked)).text)
            for asked in (
                {"as": "amy", "scopes": "crm.write"},
                {"as": "amy", "scopes": "other, more", "roles": "clerk"},
                {"as": "bo"},
            )
        ]

    assert "For amy: 2 tools" in pages[0]
    assert "For amy: 1 tool" in pages[1]
    assert "For bo: 0 tools" in pages[2]


async def test_a_server_that_is_missing_is_told_of(bench: Bench) -> None:
    bench.shelf.raws.append(7)
    async with bench.browser() as browser:
        page = await browser.get("/console/prompt")

    assert "Not all servers have answered" in page.text
