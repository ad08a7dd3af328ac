"""Callers on this machine, where nobody has to prove who they are."""

from collections.abc import Collection
from typing import Any, Final

from sayso.access.refusal import RefusedError
from sayso.access.request_info import Arrival
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
"""What proxies and tunnels add to a request. `x-forwarded` stands for the whole family."""
_TELLING: Final = frozenset(
    {b"addr", b"cdn", b"forwarded", b"ip", b"original", b"originating", b"proxy", b"remote"}
    | {b"tunnel", b"via", b"viewer"}
)
"""Words in the names of headers by which proxies tell where a request came from."""
_OWN: Final = b"mcp-"
"""How the protocol's own headers begin, which name arguments of tools too."""
_LOCAL_USER: Final = Principal(LOCAL)


class Local:
    """Takes everybody on this machine for its one user."""

    async def identify(self, arrival: Arrival) -> Principal:
        """Return this machine's user. Raises `RefusedError` if the caller may be elsewhere."""
        if not is_loopback(arrival.peer or ""):
            raise RefusedError(403, "Without authentication sayso serves its own machine alone.")
        for name, _ in arrival.headers:
            if _is_forwarding(name.lower()):
                # A proxy on this machine speaks for others, who are anywhere.
                sentence = "This came through a proxy, and sayso runs without authentication."
                raise RefusedError(403, sentence)
        return _LOCAL_USER

    def metadata(self, path: str) -> dict[str, Any] | None:
        del path


def _is_forwarding(name: bytes) -> bool:
    if name in _FORWARDED or name.startswith(_FORWARDING):
        return True
    words = name.replace(b"_", b"-").split(b"-")
    return not name.startswith(_OWN) and not _TELLING.isdisjoint(words)


def stated(name: str, scopes: Collection[str] = (), roles: Collection[str] = ()) -> Principal:
    """Return the caller on stdio that `--as` names. Nothing proves it, so it counts as local.

    With no scope and no role it needs none, as in `sayso explain --as`. Raises `UsageError` for an
    invalid or reserved name.
    """
    if not name.strip() or not name.isprintable():
        raise UsageError("this is no name of a caller", where="--as")
    if is_reserved(name):
        raise UsageError(f"sayso gives the name “{name}” to others", where="--as")
    held = None
    if scopes or roles:
        held = frozenset(scopes)
    return Principal(name, scopes=held, roles=frozenset(roles), is_local=True)
