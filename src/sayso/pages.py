"""Addresses of the documentation, for help texts and errors."""

import os
from typing import Final

_SITE: Final = ""
"""The URL of the documentation, set at a release; the variable `SAYSO_DOCS` overrides it."""


def page_address(page: str, anchor: str = "") -> str:
    """Return the URL of a page such as `guides/policy`; without a site, its path here."""
    site = os.environ.get("SAYSO_DOCS", _SITE).rstrip("/")
    address = f"{site}/{page}.html" if site else f"docs/{page}.md"
    return f"{address}#{anchor}" if anchor else address
