"""Access for callers on this machine, without authentication."""

from collections.abc import Collection
from functools import lru_cache
from typing import Any, Final

from sayso.access.refusal import RefusedError
from sayso.access.request_info import RequestInfo
from sayso.connect import is_loopback
from sayso.errors import UsageError
from sayso.policy import LOCAL, Principal, is_reserved

_FORWARDED: Final = frozenset(
    {
        b"x-envoy-external-address",
        b"x-azure-clientip",
        b"x-azure-socketip",
        b"x-amzn-trace-id",
    }
)
_FORWARDING: Final = (b"x-forwarded", b"x-forward-", b"cf-", b"tailscale-", b"x-arr-", b"ngrok-")
"""Names (`_FORWARDED`) and prefixes of names of headers that proxies and tunnels add."""
_SOURCE_WORDS: Final = frozenset(
    {b"addr", b"cdn", b"forwarded", b"ip", b"original", b"originating", b"proxy", b"remote"}
    | {b"tunnel", b"via", b"viewer"}
)
"""Words in header names with which proxies state where a request comes from."""
_OWN: Final = b"mcp-"
"""The prefix of MCP's own headers, whose names may contain the words in `_SOURCE_WORDS`."""
_LOCAL_USER: Final = Principal(LOCAL)


class LoopbackOnly:
    """Access for callers on this machine; all are the same principal, the local user."""

    async def identify(self, request: RequestInfo) -> Principal:
        """Return the local user. Raises `RefusedError` if the caller may be on another machine."""
        if not is_loopback(request.peer or ""):
            raise RefusedError(403, "Without authentication sayso serves only its own machine.")
        for name, _ in request.headers:
            if _is_forwarding(name.lower()):
                # A proxy on this machine may forward requests from other machines.
                sentence = "Without authentication sayso takes no requests through a proxy."
                raise RefusedError(403, sentence)
        return _LOCAL_USER

    def metadata(self, path: str) -> dict[str, Any] | None:
        del path


@lru_cache(maxsize=256)
def _is_forwarding(name: bytes) -> bool:
    # Cached, because a client sends the same header names in every request.
    if name in _FORWARDED or name.startswith(_FORWARDING):
        return True
    words = name.replace(b"_", b"-").split(b"-")
    return not name.startswith(_OWN) and not _SOURCE_WORDS.isdisjoint(words)


def stated(name: str, scopes: Collection[str] = (), roles: Collection[str] = ()) -> Principal:
    """Return the stdio caller that `--as` names, as local, because sayso cannot verify the name.

    Without both, scopes are not checked. Raises `UsageError` for an invalid or reserved name.
    """
    if not name.strip() or not name.isprintable():
        raise UsageError("the caller's name must be printable and not empty", where="--as")
    if is_reserved(name):
        raise UsageError(f"the name “{name}” is reserved", where="--as")
    checked = None
    if scopes or roles:
        checked = frozenset(scopes)
    return Principal(name, scopes=checked, roles=frozenset(roles), is_local=True)
