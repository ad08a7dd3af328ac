"""The console's paths, and the pages that a login may redirect to."""

import re
from typing import Final

HOME: Final = "/console"
CALLBACK: Final = f"{HOME}/login/oidc/callback"
"""The path that the issuer redirects to after a login."""

_OWN: Final = re.compile(rf"{HOME}/[A-Za-z0-9._~/?=&%+-]{{0,400}}")
_ENCODED: Final = re.compile(r"(?i)%(2[ef5]|5c|[01][0-9a-f]|7f|(?![0-9a-f]{2}))")


def is_own(address: str) -> bool:
    """Return whether a URL is unambiguously a page of the console.

    >>> is_own("/console/audit?q=a"), is_own("//evil.example/"), is_own("/console/../x")
    (True, False, False)
    """
    # Refuse encoded dots, slashes, percent signs and control characters: they may be decoded later.
    is_plain = not _ENCODED.search(address) and "//" not in address and ".." not in address
    return is_plain and bool(_OWN.fullmatch(address))


def page_after_login(path: str, query: str) -> str:
    """Return the requested page's URL; empty if a login should not redirect there."""
    address = path
    if query:
        address += f"?{query}"
    if is_own(address) and address != f"{HOME}/":
        return address
    return ""
