"""Looking on at exchanges: whoever does sees what was asked and how it ended, and adds a trace."""

from collections.abc import Generator
from contextlib import contextmanager

import pytest
from tests.connect.servers.web import MODERN, OLD, serve_web
from tests.connect.serving import faulty

from sayso.connect import RpcError, UrlTarget
from sayso.connect.link import open_link
from sayso.connect.watch import Exchange

pytestmark = pytest.mark.anyio

TRACE = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}


class Looker:
    """Keeps each exchange with the error that it ended with."""

    def __init__(self) -> None:
        self.seen: list[tuple[Exchange, BaseException | None]] = []

    @contextmanager
    def __call__(self, exchange: Exchange) -> Generator[None]:
        exchange.trace = TRACE
        error: BaseException | None = None
        try:
            yield
        except BaseException as raised:
            error = raised
            raise
        finally:
            self.seen.append((exchange, error))


@pytest.mark.parametrize("era", [MODERN, OLD])
async def test_a_trace_goes_along_in_the_message_and_its_headers(era: str) -> None:
    look = Looker()
    with serve_web(era) as site:
        async with open_link(UrlTarget("web", site.url), timeout=60, watch=look) as link:
            meta = {"_meta": {"kept": 1}}
            await link.request("tools/call", {"name": "get_echo", **meta}, timeout=60)
        (asked,) = site.asked("tools/call")

    ((exchange, error),) = look.seen
    assert (exchange.server, exchange.method, exchange.tool) == ("web", "tools/call", "get_echo")
    assert (exchange.url, exchange.version, error) == (site.url, era, None)
    assert TRACE.items() <= asked.headers.items()
    assert {**TRACE, "kept": 1}.items() <= asked.body["params"]["_meta"].items()


@pytest.mark.process
async def test_over_a_pipe_too_and_with_how_it_ended() -> None:
    look = Looker()
    async with open_link(faulty("plain"), timeout=60, watch=look) as link:
        with pytest.raises(RpcError):
            await link.request("tools/call", {"name": "get_refused", "arguments": {}}, timeout=60)
        await link.request("tools/list", {}, timeout=60)

    (first, error), (second, none) = look.seen
    assert (first.url, first.tool, second.tool, none) == (None, "get_refused", None, None)
    assert isinstance(error, RpcError)


async def test_a_tool_that_says_that_it_failed() -> None:
    look = Looker()
    refused: dict[str, object] = {"content": [], "isError": True}
    with serve_web(tools_call=lambda one: one.result(refused)) as site:
        async with open_link(UrlTarget("web", site.url), timeout=60, watch=look) as link:
            await link.request("tools/call", {"name": "get_echo"}, timeout=60)

    assert look.seen[0][0].is_error
