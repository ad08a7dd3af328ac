"""Checks of a server's URL: whether it is valid, and whether secrets may be sent to it."""

import ipaddress
import re
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

_HEADERS_FIX: Final = (
    'Put credentials into the "headers" of an entry in a configuration: '
    '{"mcpServers": {"example": {"url": "https://example.com/mcp", '
    '"headers": {"Authorization": "Bearer ${TOKEN}"}}}}.'
)

_BLANK: Final = re.compile(r"[\s\x00-\x1f\x7f]")


def fault_of_url(url: str) -> tuple[str, str] | None:
    """Return the problem of `url` and the fix, or `None` for a valid URL.

    The texts do not contain the URL, because an invalid URL may have a password in the wrong place.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError as error:
        # Cut the quotation of the URL from Python's message.
        why = re.split(r"['\":]", str(error))[0].strip().lower()
        return f"the URL is invalid: {why}", "Correct the host or the port."
    is_http = parts.scheme in ("http", "https")
    faults = (
        (not is_http, "the URL is not http:// or https://", "Other schemes are not supported."),
        ("@" in parts.netloc, "the URL holds a user name or a password", _HEADERS_FIX),
        (not host, "the URL names no host", "Write it as https://example.com/mcp."),
        ("#" in url, "the URL has a part after #, which is never sent", "Remove that part."),
        (_BLANK.search(url), "the URL holds a blank or a control character", "Write it as %20."),
    )
    return next(((what, fix) for is_fault, what, fix in faults if is_fault), None)


def is_private(url: str) -> bool:
    """Return whether a request to `url` cannot be read on the way: TLS, or this machine.

    >>> is_private("https://login.example.com"), is_private("http://login.example.com")
    (True, False)
    """
    parts = urlsplit(url)
    return parts.scheme == "https" or is_loopback(parts.hostname or "")


@lru_cache(1024)
def is_loopback(host: str) -> bool:
    """Return whether `host` is a loopback name or address."""
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    # An IPv6 socket reports an IPv4 address in its mapped form.
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback
