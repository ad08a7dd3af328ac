"""A call that waits for a person ends before its client gives up, and says where to answer."""

import inspect
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.connect.servers.web import MODERN
from tests.connect.serving import faulty, raw_client
from tests.gateway.serving import serve

from sayso.gateway import patience as patience_module
from sayso.gateway.patience import KNOWN_CLIENTS, patience_for

pytestmark = pytest.mark.anyio

DOCS = Path(__file__).parents[2] / "docs" / "guides" / "approvals.md"


@pytest.mark.parametrize("client", KNOWN_CLIENTS, ids=lambda one: one.title)
def test_a_known_client_is_answered_before_its_limit(client: Any) -> None:
    assert patience_for(client.name, tells_progress=False) < client.limit_seconds


@pytest.mark.parametrize("name", ["", "unknown", "an agent", "mcp-something"])
def test_an_unknown_client_is_answered_after_25_seconds(name: str) -> None:
    assert patience_for(name, tells_progress=False) == 25.0


@pytest.mark.parametrize("name", ["mcp", "an agent"])
def test_a_client_that_hears_progress_waits_45_seconds(name: str) -> None:
    assert patience_for(name, tells_progress=True) == 45.0


def test_the_table_in_the_documents_is_that_in_the_code() -> None:
    rows = [line for line in DOCS.read_text().splitlines() if line.startswith("| ")]
    for one in KNOWN_CLIENTS:
        limit = f"{one.limit_seconds:g} s"
        assert f"| {one.title} | `{one.name}` | {limit} | {one.users_see} |" in rows


def test_the_limit_of_the_openai_agents_sdk_is_the_one_in_its_source() -> None:
    server = pytest.importorskip("agents.mcp")
    parameters = inspect.signature(server.MCPServerStreamableHttp).parameters
    (known,) = [one for one in KNOWN_CLIENTS if one.title == "OpenAI Agents SDK"]
    assert parameters["client_session_timeout_seconds"].default == known.limit_seconds


@pytest.mark.parametrize(
    ("patience", "meta", "longest"),
    [(None, {}, 4.0), (2.0, {}, 2.0), (2.0, {"progressToken": 1}, 2.0)],
)
@pytest.mark.process
async def test_a_call_waits_as_long_as_its_client_or_as_the_operator_says(
    patience: float | None,
    meta: dict[str, Any],
    longest: float,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waited: list[float] = []
    known = patience_module.patience_for

    def noted(name: str, *, tells_progress: bool) -> float:
        waited.append(known(name, tells_progress=tells_progress))
        return 0.1

    monkeypatch.setattr("sayso.gateway.router.patience_for", noted)
    async with (
        serve(faulty("plain"), store=tmp_path / "a.db", patience=patience) as served,  # pyright: ignore[reportArgumentType] - the default of the gateway itself
        raw_client(served.url, MODERN) as client,
    ):
        client.name = "mcp"
        with anyio.fail_after(30):
            result = await client.call("faulty__delete_all", {"log": "none"}, **meta)

    assert "approval" in str(result)
    assert waited == ([] if patience is not None else [longest])
