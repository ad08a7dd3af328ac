"""Name, page, caller: looked at in this order, in one place."""

import json
import subprocess
import sys

import pytest

from sayso.access import LoopbackOnly, RefusedError, RequestInfo, admit, own_names
from sayso.policy import LOCAL, Principal

pytestmark = pytest.mark.anyio

NAMES = own_names("http://127.0.0.1:8321")
OWN = (b"host", b"127.0.0.1:8321")


async def test_a_client_on_this_machine_is_let_in() -> None:
    assert await admit(RequestInfo([OWN], "127.0.0.1"), LoopbackOnly(), NAMES) == Principal(LOCAL)


@pytest.mark.parametrize(
    ("headers", "peer", "status", "told"),
    [
        ([(b"host", b"evil.example:8321")], "127.0.0.1", 421, "does not serve that host name"),
        ([], "127.0.0.1", 421, "does not serve that host name"),
        ([OWN, (b"origin", b"https://evil.example")], "127.0.0.1", 403, "other web pages"),
        ([OWN], "192.0.2.7", 403, "only its own machine"),
    ],
)
async def test_whoever_comes_otherwise_is_not(
    headers: list[tuple[bytes, bytes]], peer: str, status: int, told: str
) -> None:
    with pytest.raises(RefusedError) as caught:
        await admit(RequestInfo(headers, peer), LoopbackOnly(), NAMES)
    assert caught.value.status == status
    assert told in json.loads(caught.value.body)["error"]
    assert b"www-authenticate" not in dict(caught.value.headers)


@pytest.mark.process
def test_importing_access_imports_no_sdk_and_no_cryptography() -> None:
    heavy = ["mcp", "mcp_types", "joserfc", "cryptography", "starlette", "pydantic"]
    code = f"import sys, sayso.access; print([one for one in {heavy!r} if one in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
