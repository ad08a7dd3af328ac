"""Detection of a server's era, however it reacts to the probe."""

from typing import Any

import anyio
import pytest
from tests.connect.servers.faulty import TOOLS
from tests.connect.serving import faulty

from sayso.connect import Fault, RpcError, negotiate
from sayso.connect.envelope import HANDSHAKE_VERSIONS, MODERN, Envelope
from sayso.connect.link import open_link
from sayso.connect.listing import list_all
from sayso.errors import NotMcpError, ServerExitedError, TimedOutError

pytestmark = pytest.mark.anyio

CLIENT = {"name": "amy", "version": "1"}


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server may think about `server/discover` only for a moment."""
    monkeypatch.setattr(negotiate, "DISCOVER_SECONDS", 0.3)


async def version_of(mode: str, timeout: float = 10) -> str:
    async with open_link(faulty(mode), timeout=timeout) as link:
        assert link.greeting.server["name"] == "faulty"
        assert link.greeting.instructions == "Be kind."
        assert len(await list_all(link, "tools/list", timeout=60)) == len(TOOLS)
        return link.version


@pytest.mark.process
async def test_a_modern_server_is_spoken_to_without_a_handshake() -> None:
    assert await version_of("modern") == MODERN


@pytest.mark.parametrize(
    "mode",
    [
        pytest.param("plain", id="that does not know the method"),
        pytest.param("strict", id="that answers -32000, which the SDK uses for a lost connection"),
        pytest.param("handshake-only", id="that discovers only old versions"),
        pytest.param("banner", id="that prints a line that is no message first"),
    ],
)
@pytest.mark.process
async def test_an_old_server_gets_its_handshake(mode: str) -> None:
    assert await version_of(mode) == "2025-11-25"


@pytest.mark.process
async def test_a_server_that_ends_at_a_question_before_the_handshake_is_started_anew() -> None:
    assert await version_of("fragile") == "2025-11-25"


@pytest.mark.usefixtures("hasty")
@pytest.mark.process
async def test_a_server_that_never_answers_discover_gets_its_handshake() -> None:
    assert await version_of("mute") == "2025-11-25"


@pytest.mark.process
async def test_a_short_time_limit_still_leaves_time_for_the_handshake() -> None:
    assert await version_of("mute", timeout=1.5) == "2025-11-25"


@pytest.mark.usefixtures("hasty")
@pytest.mark.process
async def test_a_modern_server_that_was_slow_to_start_is_asked_again() -> None:
    assert await version_of("late") == MODERN


@pytest.mark.parametrize(
    ("mode", "words"),
    [("future", "supports none of sayso's protocol versions"), ("ancient", "1999-12-31")],
)
@pytest.mark.process
async def test_a_server_of_an_unknown_version_is_refused(mode: str, words: str) -> None:
    with pytest.raises(NotMcpError, match=words) as caught:
        await version_of(mode)
    assert caught.value.where == "faulty"


@pytest.mark.process
async def test_a_server_that_answers_nothing_runs_out_of_time() -> None:
    with pytest.raises(TimedOutError, match=r"no answer within 0\.4 s"):
        await version_of("silent", timeout=0.4)


@pytest.mark.process
async def test_a_server_that_ends_at_once_is_not_started_for_ever() -> None:
    with (
        pytest.raises(ServerExitedError, match="the server ended before it answered"),
        anyio.fail_after(30),
    ):
        await version_of("exits")


@pytest.mark.parametrize("fault", [Fault.NOT_SENT, Fault.UNAUTHORIZED, Fault.NOT_MCP])
async def test_what_no_handshake_can_mend_is_told_at_once(fault: Fault) -> None:
    asked: list[str] = []

    async def send(method: str, *_: Any) -> dict[str, Any]:
        asked.append(method)
        raise RpcError(-32000, "no", fault=fault)

    with pytest.raises(RpcError, match="no"):
        await negotiate.negotiate(send, never, CLIENT, capabilities={}, timeout=1)
    assert asked == ["server/discover"]


@pytest.mark.parametrize("supported", [None, "2025-11-25", [7], [{}], [*HANDSHAKE_VERSIONS]])
async def test_only_a_version_that_is_named_decides(supported: Any) -> None:
    """The handshake is refused too: what counts is whether it was tried."""
    asked: list[str] = []

    async def send(method: str, *_: Any) -> dict[str, Any]:
        asked.append(method)
        raise RpcError(-32022, "no such version", {"supported": supported})

    with pytest.raises((RpcError, NotMcpError), match="no such version"):
        await negotiate.negotiate(send, never, CLIENT, capabilities={}, timeout=1)
    is_tried = isinstance(supported, list) and "2025-11-25" in supported
    assert asked == ["server/discover", "initialize"][: 2 if is_tried else 1]


async def never(_method: str, _envelope: Envelope) -> None:
    raise AssertionError
