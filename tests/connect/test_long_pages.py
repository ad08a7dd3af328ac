"""Long lists are read entry by entry, and hold what short ones hold."""

from typing import Any, cast

import msgspec
import pytest

from sayso.connect.listing import read_list
from sayso.connect.rpc import RpcError
from sayso.errors import NotMcpError

pytestmark = pytest.mark.anyio


class OnePage:
    """A connection whose server answers each list with one page."""

    name = "web"

    def __init__(self, tools: bytes) -> None:
        self.tools = tools

    async def request(self, *_: Any, **__: Any) -> dict[str, Any]:
        return {"tools": msgspec.Raw(self.tools)}


@pytest.mark.parametrize("count", [2, 20_000])
async def test_a_list_of_any_length_is_read_whole(count: int) -> None:
    tools: list[Any] = [{"name": f"get_{at}"} for at in range(count)]
    link: Any = OnePage(msgspec.json.encode(tools))
    assert (await read_list(link, "tools/list", timeout=1)).entries == tools


@pytest.mark.parametrize("size", [1, 100_000])
async def test_what_is_no_list_is_told_whatever_its_size(size: int) -> None:
    link: Any = OnePage(b'"' + b"x" * size + b'"')
    with pytest.raises(NotMcpError, match="has no list of tools"):
        await read_list(link, "tools/list", timeout=1)


@pytest.mark.parametrize("size", [1, 20_000])
async def test_a_list_that_is_no_json_is_told_as_a_lost_answer(size: int) -> None:
    link: Any = OnePage(b"[" + b"{}," * size + b"}]")
    with pytest.raises(RpcError, match="cannot be read"):
        await read_list(link, "tools/list", timeout=1)


async def test_a_page_without_a_list_is_told() -> None:
    with pytest.raises(NotMcpError, match="the answer to prompts/list has no list of prompts"):
        await read_list(cast("Any", OnePage(b"[]")), "prompts/list", timeout=1)
