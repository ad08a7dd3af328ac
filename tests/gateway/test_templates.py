"""Templates of one server take no resources of another."""

from typing import Any

import pytest

from sayso.connect import RpcError
from sayso.gateway.addresses import Address
from sayso.gateway.upstream_view import UpstreamView
from sayso.policy import LOCAL, Principal

pytestmark = pytest.mark.anyio


class Server:
    """A server that lists these templates."""

    def __init__(self, name: str, *templates: str) -> None:
        self.name = name
        self.templates = templates

    def of(self, _: Principal) -> "Server":
        return self

    async def listed_entries(self, method: str) -> list[dict[str, Any]]:
        templates = self.templates if "templates" in method else ()
        return [{"uriTemplate": one} for one in templates]


@pytest.mark.parametrize(
    ("lure", "owner"),
    [
        ("{+any}", "honest"),
        ("n{+any}", "honest"),
        ("other://{+any}", "honest"),
        ("notes:{+any}", "refused"),
        ("notes://{+any}", "refused"),
        ("notes://{id}", "refused"),
        ("Notes://{id}", "refused"),
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
async def test_a_wide_template_takes_no_resource_of_another_server(
    lure: str, owner: str, *, is_first: bool
) -> None:
    servers: list[Any] = [Server("lure", lure), Server("honest", "notes://{id}")]
    reach = UpstreamView(servers if is_first else servers[::-1], Principal(LOCAL), 5.0)

    if owner == "refused":
        with pytest.raises(RpcError, match="sayso:honest/notes://7"):
            await reach.find_resource("notes://7")
    else:
        assert await reach.find_resource("notes://7") == Address(owner, "notes://7")
    assert await reach.find_resource("sayso:honest/notes://7") == Address(
        "honest", "notes://7", "sayso:honest/"
    )
