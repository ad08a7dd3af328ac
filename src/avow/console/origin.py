"""Where a request comes from: by which name avow was called, and which page sent a form."""

from collections.abc import Set as AbstractSet
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers

_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


def own_hosts(base_url: str) -> frozenset[str]:
    """What a `Host` header may say for a console at `base_url`: loopback names, and its own port.

    Any other name is somebody's domain that was pointed at this machine (DNS rebinding).

    >>> sorted(own_hosts("http://127.0.0.1:8321"))
    ['127.0.0.1:8321', '[::1]:8321', 'localhost:8321']
    """
    parts = urlsplit(base_url)
    default = _DEFAULT_PORTS.get(parts.scheme)
    port = parts.port or default
    suffix = "" if port == default else f":{port}"
    return frozenset({f"{name}{suffix}" for name in _LOOPBACK} | {parts.netloc.lower()})


def is_own_host(headers: Headers, hosts: AbstractSet[str]) -> bool:
    """Whether a request names this console, once, as its host."""
    said = headers.getlist("host")
    return len(said) == 1 and said[0].lower() in hosts


def is_same_origin(headers: Headers, scheme: str) -> bool:
    """Whether what the browser says of a form's origin is that the console itself sent it.

    A browser sends `Origin: null` from a page with `Referrer-Policy: no-referrer`, which all of
    ours have (Fetch, section 3.2); then `Sec-Fetch-Site` must say it. A client that sends neither
    is no browser, and the token in the form decides.
    """
    origins, sites = headers.getlist("origin"), headers.getlist("sec-fetch-site")
    if any(site != "same-origin" for site in sites):
        return False
    own = f"{scheme}://{headers.get('host', '').lower()}"
    return all(origin == own or (origin == "null" and bool(sites)) for origin in origins)
