"""Callers on this machine, where nobody has to prove who they are."""

from collections.abc import Collection
from typing import Any, Final

from avow.access.arrival import Arrival
from avow.access.refusal import RefusedError
from avow.connect.address import is_loopback
from avow.errors import UsageError
from avow.policy import LOCAL, Principal, is_reserved

_FORWARDED: Final = frozenset(
    {
        b"forwarded",
        b"via",
        b"x-real-ip",
        b"x-client-ip",
        b"x-cluster-client-ip",
        b"x-original-forwarded-for",
        b"x-original-host",
        b"x-original-url",
        b"x-envoy-external-address",
        b"x-proxyuser-ip",
        b"x-remote-ip",
        b"x-remote-addr",
        b"client-ip",
        b"true-client-ip",
        b"fastly-client-ip",
        b"fly-client-ip",
        b"x-appengine-user-ip",
        b"x-azure-clientip",
        b"x-azure-socketip",
        b"x-amzn-trace-id",
        b"cdn-loop",
        b"proxy-connection",
    }
)
_FORWARDING: Final = (b"x-forwarded", b"x-forward-", b"cf-", b"tailscale-", b"x-arr-", b"ngrok-")
"""What proxies and tunnels add to a request. `x-forwarded` stands for the whole family."""
_SOMEBODY: Final = Principal(LOCAL)


class Local:
    """Takes everybody on this machine for its one user."""

    async def identify(self, arrival: Arrival) -> Principal:
        """This machine's user. Raises `RefusedError` for whoever is, or may be, elsewhere."""
        if not is_loopback(arrival.peer or ""):
            raise RefusedError(403, "Without authentication avow serves its own machine alone.")
        for name, _ in arrival.headers:
            if name.lower() in _FORWARDED or name.lower().startswith(_FORWARDING):
                # A proxy on this machine speaks for others, who are anywhere.
                sentence = "This came through a proxy, and avow runs without authentication."
                raise RefusedError(403, sentence)
        return _SOMEBODY

    def metadata(self, path: str) -> dict[str, Any] | None:
        """None: nothing is protected by tokens."""
        del path


def stated(name: str, scopes: Collection[str] = (), roles: Collection[str] = ()) -> Principal:
    """The caller on stdio, as whoever starts avow says: who it is, and what it may see.

    Nobody proves anything there, so it counts as local. With no scope and no role it needs none,
    as `avow explain --as` has it. Raises `UsageError` for a name that is none, or that avow gives
    to others.
    """
    if not name.strip() or not name.isprintable():
        raise UsageError("this is no name of a caller", where="--as")
    if is_reserved(name):
        raise UsageError(f"avow gives the name “{name}” to others", where="--as")
    held = frozenset(scopes) if scopes or roles else None
    return Principal(name, scopes=held, roles=frozenset(roles), is_local=True)
