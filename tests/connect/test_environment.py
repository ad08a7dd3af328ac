"""A server gets what it needs to start, what it was configured with, and nothing of ours."""

import json
import sys

import pytest
from tests.connect.serving import SERVERS

from sayso.connect import CommandTarget
from sayso.connect.environment import child_environment
from sayso.connect.link import open_link

pytestmark = pytest.mark.anyio


async def environment_of(**configured: str) -> dict[str, str]:
    words = (str(SERVERS / "faulty.py"), "plain")
    target = CommandTarget("faulty", sys.executable, words, configured)
    async with open_link(target, timeout=60) as link:
        params = {"name": "get_environment"}
        result = await link.request("tools/call", params, timeout=60)
    return json.loads(result["content"][0]["text"])


@pytest.mark.process
async def test_a_servers_process_sees_its_own_variables_and_not_our_secrets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "SAYSO_STORE", "PYTHONPATH"):
        monkeypatch.setenv(name, "ours")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("TZ", "Europe/Berlin")

    found = await environment_of(API_KEY="the server's", TZ="UTC")

    assert "ours" not in found.values()
    assert found["HTTPS_PROXY"] == "http://proxy.example:3128"
    assert found["API_KEY"] == "the server's"
    assert found["TZ"] == "UTC"
    assert found["PATH"]


def test_what_is_not_set_is_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("NODE_EXTRA_CA_CERTS", "/etc/ca.pem")

    found = child_environment({})

    assert "SSL_CERT_FILE" not in found
    assert found["NODE_EXTRA_CA_CERTS"] == "/etc/ca.pem"
