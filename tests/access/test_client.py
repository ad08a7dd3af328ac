"""What sayso tells clients is what the official SDK's client looks for."""

import json

import httpx2
import pytest
from mcp.client.auth import utils
from mcp.shared.auth import ProtectedResourceMetadata
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url
from tests.access.authority import GATEWAY, Authority
from tests.access.conftest import Opened, request_info

from sayso.access import RefusedError

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("path", ["/mcp", "/servers/crm/mcp"])
async def test_the_sdks_client_finds_its_way_in(
    authority: Authority, opened: Opened, path: str
) -> None:
    text = '[oauth]\nissuer = "{issuer}"\nscopes = ["mcp"]\n'
    async with opened(text) as access:
        with pytest.raises(RefusedError) as caught:
            await access.identify(request_info(path=path))
        answer = httpx2.Response(
            caught.value.status, headers=caught.value.headers, content=caught.value.body
        )
        where = utils.extract_resource_metadata_from_www_auth(answer)
        assert where in utils.build_protected_resource_metadata_discovery_urls(
            None, f"{GATEWAY}{path}"
        )
        assert utils.extract_scope_from_www_auth(answer) == "mcp"
        metadata = ProtectedResourceMetadata.model_validate_json(json.dumps(access.metadata(path)))
        wanted = resource_url_from_server_url(f"{GATEWAY}{path}")
        assert check_resource_allowed(wanted, str(metadata.resource))
        token = authority.sign(aud=str(metadata.resource), scope="mcp")
        assert (await access.identify(request_info(token, path=path))).subject == "amy"
