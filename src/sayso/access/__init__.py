"""Authentication of callers, and checks of the `Host` and `Origin` of their requests."""

from typing import TYPE_CHECKING

from sayso.access.admission import Access, admit, open_access
from sayso.access.apikey import KEY_SECONDS, ApiKeyAuth, make_api_key
from sayso.access.load import load_access, read_access
from sayso.access.loopback import LoopbackOnly, stated
from sayso.access.origin import Names, is_own_host, is_own_origin, is_same_origin, own_names
from sayso.access.refusal import RefusedError
from sayso.access.request_info import Headers, RequestInfo
from sayso.access.resource import ALL, API, WELL_KNOWN
from sayso.access.screens import may_use
from sayso.access.settings import Console, OAuth, Screens, Settings
from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.access.claims import KEY_SUBJECT, Terms, read_claims
    from sayso.access.console import EVERYBODY
    from sayso.access.issuer import Issuer, address_in, discover
    from sayso.access.refusal import UnfitError
    from sayso.access.token import read_header, read_signed


__all__ = [
    "ALL",
    "API",
    "EVERYBODY",
    "KEY_SECONDS",
    "KEY_SUBJECT",
    "WELL_KNOWN",
    "Access",
    "ApiKeyAuth",
    "Console",
    "Headers",
    "Issuer",
    "LoopbackOnly",
    "Names",
    "OAuth",
    "RefusedError",
    "RequestInfo",
    "Screens",
    "Settings",
    "Terms",
    "UnfitError",
    "address_in",
    "admit",
    "discover",
    "is_own_host",
    "is_own_origin",
    "is_same_origin",
    "load_access",
    "make_api_key",
    "may_use",
    "open_access",
    "own_names",
    "read_access",
    "read_claims",
    "read_header",
    "read_signed",
    "stated",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.access.claims": ("KEY_SUBJECT", "Terms", "read_claims"),
        "sayso.access.console": ("EVERYBODY",),
        "sayso.access.issuer": ("Issuer", "address_in", "discover"),
        "sayso.access.refusal": ("UnfitError",),
        "sayso.access.token": ("read_header", "read_signed"),
    },
)
