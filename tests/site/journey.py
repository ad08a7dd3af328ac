"""What a newcomer does beside a page's commands: find the link, and answer at the console."""

import re
import socket
from typing import TYPE_CHECKING

from tests.console.browsing import browsing, press
from tests.site.pages import Reader

if TYPE_CHECKING:
    import subprocess

DELETE = "python -m sayso.demo.client http://127.0.0.1:8321/mcp --delete 5"


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def login_link(gateway: "subprocess.Popen[str]") -> str:
    """Return the link that the gateway prints, once clients can connect."""
    assert gateway.stdout is not None
    printed = ""
    for line in gateway.stdout:
        printed += line
        link = re.search(r"http://\S+/login\S+", printed)
        # The link goes to standard output, all else to standard error: either may be first.
        if link is not None and "MCP clients connect to" in printed:
            return link[0]
    raise AssertionError(printed)


async def allow_once(link: str) -> None:
    """Answer the question that waits, as a person at the console does."""
    async with browsing() as browser:
        page = await browser.new_page()
        await page.goto(link)
        if await page.get_by_role("button", name="Log in").count():
            await page.get_by_role("button", name="Log in").click()
        await page.locator("a[data-dialog]").first.click()
        allow = page.get_by_role("button", name="Allow once", exact=True)
        await press(allow, page.locator("dialog[open]"))


async def delete_with_approval(reader: Reader, link: str) -> None:
    """Run the client of the first page, allow its call, and wait until it ends."""
    with reader.start(DELETE) as client:
        assert client.stdout is not None
        for line in client.stdout:
            if "this waits" in line:
                break
        await allow_once(link)
        assert client.wait(timeout=60) == 0
