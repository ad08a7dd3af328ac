"""Lists come page by page, and end."""

import pytest
from tests.connect.servers.faulty import ODD_TOOLS, TOOLS
from tests.connect.serving import faulty

from sayso.connect.link import open_link
from sayso.connect.listing import list_all
from sayso.errors import NotMcpError

pytestmark = pytest.mark.anyio


async def test_all_pages_of_a_list_are_read_in_order() -> None:
    async with open_link(faulty("pages"), timeout=60) as link:
        assert await list_all(link, "tools/list", timeout=5) == TOOLS


async def test_unknown_keys_and_hints_of_any_type_arrive_as_they_were_sent() -> None:
    async with open_link(faulty("odd"), timeout=60) as link:
        assert await list_all(link, "tools/list", timeout=5) == ODD_TOOLS


async def test_pages_without_an_end_are_given_up() -> None:
    async with open_link(faulty("endless"), timeout=60) as link:
        with pytest.raises(NotMcpError, match="does not end after 1000 pages") as caught:
            await list_all(link, "tools/list", timeout=5)
        assert caught.value.where == "faulty"


async def test_an_answer_without_a_list_is_no_answer() -> None:
    async with open_link(faulty("no-list"), timeout=60) as link:
        with pytest.raises(NotMcpError, match="has no list of tools"):
            await list_all(link, "tools/list", timeout=5)
