"""Somebody at a client that leads to pages: opens them in a browser of their own, and answers."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx2
import mcp_types as types
from tests.console.conftest import csrf_of, token_of
from tests.gateway.serving import Served

from sayso.approvals import Approvals


@asynccontextmanager
async def logged_in(served: Served) -> AsyncGenerator[httpx2.AsyncClient]:
    """A browser with a session of this console."""
    async with httpx2.AsyncClient(trust_env=False) as browser:
        base = served.url.removesuffix("/mcp")
        fields = {"token": token_of(served.login.link())}
        assert (await browser.post(f"{base}/console/login", data=fields)).status_code == 303
        yield browser


@dataclass
class Visitor:
    """A person. With a `browser` they press `verdict` on the page, before they go back or after.

    Without one they say `action` and visit nothing.
    """

    action: str = "accept"
    browser: httpx2.AsyncClient | None = None
    verdict: str = "allow"
    asked: list[types.ElicitRequestURLParams] = field(
        default_factory=list[types.ElicitRequestURLParams]
    )
    told: list[str] = field(default_factory=list[str])
    pages: list[int] = field(default_factory=list[int])

    async def __call__(
        self,
        context: Any,  # noqa: ARG002 - as the SDK calls it
        params: types.ElicitRequestParams,
    ) -> types.ElicitResult:
        assert isinstance(params, types.ElicitRequestURLParams)
        self.asked.append(params)
        content = {"approve": True}  # which no page asks for, and nobody may believe
        return types.ElicitResult.model_validate({"action": self.action, "content": content})

    async def hear(self, message: Any) -> None:
        """What the client is told beside its calls."""
        if isinstance(message, types.ElicitCompleteNotification):
            self.told.append(message.params.elicitation_id)

    async def visit(self) -> None:
        """Open the page that the client was asked to show, as soon as it was, and answer there."""
        assert self.browser is not None
        with anyio.fail_after(30):
            while not self.asked:
                await anyio.sleep(0.005)
        url = self.asked[-1].url
        page = await self.browser.get(url)
        form = {"csrf": csrf_of(page), "verdict": self.verdict}
        said = await self.browser.post(f"{url}/answer", data=form)
        self.pages += [page.status_code, said.status_code]


async def open_questions(approvals: Approvals) -> list[int]:
    """The numbers of the questions that nobody has answered, and that nobody has said a word to."""
    newest = await approvals.newest()
    for one in newest:
        assert await approvals.answers(one.number) == []
    return [one.number for one in newest if one.state == "pending"]
