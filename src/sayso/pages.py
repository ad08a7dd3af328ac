"""Addresses of the documentation, for help texts and errors."""

import os
from typing import Final

_SITE: Final = ""
"""The address of the site. A release sets it; `SAYSO_DOCS` names another copy."""


def page_address(page: str, anchor: str = "") -> str:
    """Return the address of a page such as `guides/policy`; in the repository without a site."""
    site = os.environ.get("SAYSO_DOCS", _SITE).rstrip("/")
    address = f"{site}/{page}.html" if site else f"docs/{page}.md"
    return f"{address}#{anchor}" if anchor else address
