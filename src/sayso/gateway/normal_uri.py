"""The normal form of a URI: what a client that parses URIs sends back (the WHATWG URL standard).

`urllib.parse` has no such form, and a library for it weighs 6 MB. The tests compare this module
with pydantic's parser, which is the one in the clients of the official Python SDK. Three rare forms
differ: a number in place of an IPv4 address (`0x7f.1`), a path with the name of a drive before
`..`, and empty segments at the start of a file's path.
"""

import ipaddress
import re
from typing import Final
from urllib.parse import quote, unquote

import idna

_PORTS: Final = {"http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21", "file": ""}
"""The schemes with a host that is a domain name, and their default ports."""
_OUTER: Final = "".join(map(chr, range(0x21)))
_REMOVED: Final = str.maketrans("", "", "\t\n\r")
_URI: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):([^?#]*)(\?[^#]*)?(#.*)?", re.DOTALL)
_AUTHORITY: Final = re.compile(r"(?:(.*)@)?(\[[^\]]*\]|[^:]*)(?::([0-9]*))?", re.DOTALL)
_FORBIDDEN: Final = re.compile(r"[\x00-\x20#/:<>?@\[\\\]^|\x7f]")
_DOT: Final = re.compile(r"\.|%2e", re.IGNORECASE)
_ASCII: Final = "".join(map(chr, range(0x20, 0x7F)))


def _safe(encoded: str) -> str:
    """Return the printable ASCII characters that stay as they are, all but `encoded`."""
    return "".join(char for char in _ASCII if char not in encoded)


_OPAQUE: Final = _safe("")
_PATH: Final = _safe(' "#<>?`{}')
_USER: Final = _safe(' "#<>?`{}/:;=@[\\]^|')
_QUERY: Final = _safe(' "#<>')
_SPECIAL_QUERY: Final = _safe(" \"#<>'")
_FRAGMENT: Final = _safe(' "<>`')


def normal_uri(uri: str) -> str:
    """Return the normal form of a URI; anything else stays as it is.

    >>> normal_uri("HTTP://Example.com:80/a/../b c"), normal_uri("memo://A/b")
    ('http://example.com/b%20c', 'memo://A/b')
    """
    match = _URI.fullmatch(uri.strip(_OUTER).translate(_REMOVED))
    if match is None:
        return uri
    scheme = match[1].lower()
    try:
        place = _place(scheme, match[2])
    except ValueError:
        return uri
    query = quote(match[3] or "", _SPECIAL_QUERY if scheme in _PORTS else _QUERY)
    return f"{scheme}:{place}{query}{quote(match[4] or '', _FRAGMENT)}"


def _place(scheme: str, rest: str) -> str:
    """Return authority and path. Raises `ValueError`."""
    if scheme == "file":
        rest = rest.replace("\\", "/")
        rest = rest if rest.startswith("//") else f"//{_rooted(rest)}"
    elif scheme in _PORTS:
        rest = "//" + rest.replace("\\", "/").lstrip("/")
    if not rest.startswith("//"):
        path = _path(rest) if rest.startswith("/") else quote(rest, _OPAQUE)
        # Without a dot, such a path would be read as a host.
        return f"/.{path}" if path.startswith("//") else path
    authority, slash, path = rest[2:].partition("/")
    path = f"{slash}{path}"
    if scheme in _PORTS:
        path = _rooted(path)
    return f"//{_authority(scheme, authority)}{_path(path)}"


def _rooted(path: str) -> str:
    return path if path.startswith("/") else f"/{path}"


def _authority(scheme: str, text: str) -> str:
    match = _AUTHORITY.fullmatch(text)
    if match is None:
        raise ValueError("not an authority")
    host = _host(scheme, match[2])
    is_alone = not match[1] and match[3] is None
    if scheme == "file" and match[2] != text:
        raise ValueError("a file has neither user nor port")
    if not host and scheme != "file" and (scheme in _PORTS or not is_alone):
        raise ValueError("no host")
    name, colon, password = (match[1] or "").partition(":")
    user = quote(name, _USER) + (f":{quote(password, _USER)}" if colon and password else "")
    port = str(int(match[3])) if match[3] else ""
    if port == _PORTS.get(scheme, ""):
        port = ""
    return f"{user}{'@' if user else ''}{host}{':' if port else ''}{port}"


def _host(scheme: str, host: str) -> str:
    if host.startswith("["):
        return f"[{ipaddress.IPv6Address(host[1:-1])}]"
    if scheme in _PORTS:
        host = unquote(host)
        host = host.lower() if host.isascii() else idna.encode(host, uts46=True).decode()
        if scheme == "file" and host == "localhost":
            return ""
    if _FORBIDDEN.search(host):
        raise ValueError("not a host")
    return quote(host, _OPAQUE)


def _path(path: str) -> str:
    """Return a path without `.` and `..` (RFC 3986, section 5.2.4), and encoded."""
    segments: list[str] = []
    parts = path.split("/")[1:]
    for index, part in enumerate(parts):
        plain = _DOT.sub(".", part)
        if plain == "..":
            del segments[-1:]
        elif plain != ".":
            segments.append(quote(part, _PATH))
            continue
        if index == len(parts) - 1:
            segments.append("")
    return "".join(f"/{segment}" for segment in segments)
