"""A client that can be asked, and the servers that ask it."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
from mcp import Client
from tests.connect.servers import asking
from tests.connect.serving import ENVIRONMENT, SERVERS, serve_app

from sayso.connect import CommandTarget, UrlTarget

# The module of one server takes from that of the other.
REACHING = ENVIRONMENT | {"PYTHONPATH": f"{ENVIRONMENT['PYTHONPATH']}:{SERVERS.parents[2]}"}

ROOT = "file:///home/amy/work"


@dataclass
class Person:
    """The person and the model at a client; records the questions."""

    asked: list[Any] = field(default_factory=list[Any])

    async def elicit(
        self,
        context: Any,  # noqa: ARG002 - as the SDK calls it
        params: types.ElicitRequestParams,
    ) -> types.ElicitResult:
        self.asked.append(params)
        is_page = isinstance(params, types.ElicitRequestURLParams)
        return types.ElicitResult(action="accept", content=None if is_page else {"name": "Amy"})

    async def sample(
        self,
        context: Any,  # noqa: ARG002
        params: types.CreateMessageRequestParams,
    ) -> types.CreateMessageResult:
        self.asked.append(params)
        said = types.TextContent(text="hello")
        return types.CreateMessageResult(role="assistant", content=said, model="m")

    async def roots(self, context: Any) -> types.ListRootsResult:  # noqa: ARG002
        self.asked.append("roots")
        return types.ListRootsResult(roots=[types.Root.model_validate({"uri": ROOT})])

    def client(self, url: str, era: str, **more: Any) -> Client:
        """A client that can be asked all there is."""
        return Client(
            url,
            mode=era,
            elicitation_callback=self.elicit,
            sampling_callback=self.sample,
            list_roots_callback=self.roots,
            **more,
        )


@asynccontextmanager
async def asking_server(
    way: str, *, is_old: bool, kind: Any = asking
) -> AsyncGenerator[CommandTarget | UrlTarget]:
    """The server that asks, over stdio or HTTP; or one of another kind, named by its module."""
    name = kind.__name__.rpartition(".")[2]
    if way == "stdio":
        words = (str(SERVERS / f"{name}.py"), *(["old"] if is_old else []))
        yield CommandTarget(name, sys.executable, words, REACHING)
        return
    async with serve_app(kind.build(is_old=is_old).streamable_http_app()) as base:
        yield UrlTarget(name, f"{base}/mcp")
