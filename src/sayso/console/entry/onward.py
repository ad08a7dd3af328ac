"""Where a login leads: to the page that was wanted, which is one of the console's own."""

import re
from typing import Final

from sayso.console.home import HOME

_OWN: Final = re.compile(rf"{HOME}/[A-Za-z0-9._~/?=&%+-]{{0,400}}")

_ENCODED: Final = re.compile(r"(?i)%(2[ef5]|5c|[01][0-9a-f]|7f|(?![0-9a-f]{2}))")


def is_own(address: str) -> bool:
    """Whether an address is a page of the console, and cannot be read as anything else.

    >>> is_own("/console/history?q=a"), is_own("//evil.example/"), is_own("/console/../x")
    (True, False, False)
    """
    # An encoded dot, slash, backslash, percent sign or control may be decoded on the way.
    is_plain = not _ENCODED.search(address) and "//" not in address and ".." not in address
    return is_plain and bool(_OWN.fullmatch(address))


def wanted(path: str, query: str) -> str:
    """The address of the page that was asked for; empty where a login should not lead there."""
    address = f"{path}?{query}" if query else path
    return address if is_own(address) and address != f"{HOME}/" else ""
