"""A chat on another origin with the dialog in it, in front of a gateway with the demo behind."""

import re
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Locator, Page, expect
from starlette.responses import HTMLResponse
from tests.console.browsing import LIMIT, Served, demo, listening

from sayso.access import ApiKeyAuth, Screens, make_api_key
from sayso.console import Login, make_routes
from sayso.gateway import make_app, open_gateway
from sayso.store.sqlite import open_sqlite

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "screens.md"
ROLES = {"viewer": frozenset({"staff"}), "approver": frozenset({"finance"})}


@dataclass
class Chat:
    """A gateway, and the address of a page elsewhere that may show its dialog."""

    served: Served
    url: str
    key: str


@asynccontextmanager
async def chatting(folder: Path, **more: Any) -> AsyncGenerator[Chat]:
    """A chat whose reader may answer, with a content policy that lets nothing else in."""
    gate, page = (socket.create_server(("127.0.0.1", 0)) for _ in range(2))
    base, origin = (f"http://127.0.0.1:{one.getsockname()[1]}" for one in (gate, page))
    store = open_sqlite(folder / "sayso.db")
    given: dict[str, Any] = {"console": f"{base}/console/", "patience": LIMIT, **more}
    async with demo() as target, open_gateway([target], store, **given) as gateway:
        login = Login(base, tokens=store.tokens, keys=gateway.keys)
        key, row = make_api_key(gateway.keys, "amy", roles=["finance"], now=0.0, by="bob")
        await store.api_keys.add(row)
        routes = make_routes(
            gateway,
            login,
            base_url=base,
            access=ApiKeyAuth(store.api_keys, gateway.keys),
            screens=Screens(frozenset({origin}), ROLES),
        )
        app = make_app(gateway, base, routes)
        async with listening(app, gate), listening(page_of(base), page):
            yield Chat(Served(base, gateway, login), f"{origin}/", key)
    await store.close()


def page_of(base: str) -> HTMLResponse:
    """The chat, with the lines that docs/guides/screens.md says are all that it takes."""
    (snippet,) = re.findall(r"```html\n(.*?)```", PAGE.read_text(), re.DOTALL)
    body = f"""<!doctype html><html lang="en"><head><title>Chat</title>
<meta charset="utf-8"><meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,"><meta name="color-scheme" content="light dark">
</head>
<body><main><h1>Chat</h1><label>Message <input id="message"></label>
{snippet.replace("https://sayso.example.com", base)}</main></body></html>"""
    policy = (
        f"default-src 'none'; script-src {base}; connect-src {base}; img-src data:; "
        "require-trusted-types-for 'script'; base-uri 'none'; form-action 'none'"
    )
    return HTMLResponse(body, headers={"Content-Security-Policy": policy})


@asynccontextmanager
async def reading(
    browser: Browser, chat: Chat, *, tolerated: str = "\0", key: str | None = None, **options: Any
) -> AsyncGenerator[Page]:
    """Somebody before the chat, who has a key; what the page complains of fails the test."""
    context = await browser.new_context(**options)
    context.set_default_timeout(LIMIT * 1000)
    page, wrong = await context.new_page(), list[str]()
    page.on("console", lambda said: wrong.append(said.text))
    page.on("pageerror", lambda error: wrong.append(f"{error}"))
    try:
        await page.goto(chat.url)
        await page.get_by_label("Message").focus()
        await page.evaluate(
            "key => { const one = document.querySelector('sayso-confirm'); one.token = key;"
            " window.told = []; for (const name of ['sayso-answered', 'sayso-settled'])"
            " document.addEventListener(name, event => told.push([name, event.detail])) }",
            chat.key if key is None else key,
        )
        yield page
        found = [one for one in wrong if tolerated not in one]
        assert not found, found
    finally:
        await context.close()


def shown(page: Page) -> Locator:
    """The dialog, where it is open."""
    return page.get_by_role("alertdialog")


def button(page: Page, name: str) -> Locator:
    """A button of the dialog."""
    return shown(page).get_by_role("button", name=name, exact=True)


async def ready(page: Page) -> Locator:
    """The dialog, once its buttons can be pressed."""
    await expect(button(page, "Deny")).to_be_enabled()
    return shown(page)
