"""Checks of the `Host` and `Origin` headers.

A web page can send requests from a browser to any address, but the browser sets these headers. So
they reveal requests from foreign pages, even with DNS rebinding.
"""

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from sayso.access.request_info import Headers, values

_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
_EVERYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104 - compared, never bound
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Names:
    """The accepted values of `Host` and `Origin`."""

    hosts: frozenset[str]
    origins: frozenset[str]


def own_names(base_url: str, public_url: str | None = None) -> Names:
    """Return the names of a gateway that listens at `base_url` and is public at `public_url`.

    These are the loopback names with the port of `base_url`, and the hosts in both URLs. A wildcard
    address such as `0.0.0.0` is not included. For a default port, the name without port is added.

    >>> sorted(own_names("http://127.0.0.1:8321").hosts)
    ['127.0.0.1:8321', '[::1]:8321', 'localhost:8321']
    """
    parts = urlsplit(base_url)
    port = parts.port or _DEFAULT_PORTS[parts.scheme]
    urls = [f"{parts.scheme}://{name}:{port}" for name in _LOOPBACK]
    if parts.hostname not in _EVERYWHERE:
        urls.append(base_url)
    if public_url is not None:
        urls.append(public_url)
    names = [name for url in urls for name in _spellings(url)]
    return Names(
        hosts=frozenset(host for _, host in names),
        origins=frozenset(f"{scheme}://{host}" for scheme, host in names),
    )


def is_own_host(headers: Headers, names: Names) -> bool:
    """Return whether a request has exactly one `Host`, which is one of `names`."""
    hosts = values(headers, b"host")
    return len(hosts) == 1 and hosts[0].decode("latin-1").lower() in names.hosts


def is_own_origin(headers: Headers, names: Names) -> bool:
    """Return whether a request has no `Origin`, or only origins in `names`; `null` is refused."""
    return all(origin.lower() in names.origins for origin in _texts(headers, b"origin"))


def is_same_origin(headers: Headers, scheme: str) -> bool:
    """Return whether the browser's headers show that the console itself sent a form.

    The console's pages have `Referrer-Policy: no-referrer`, so their forms send `Origin: null`
    (Fetch, section 3.2). For `null`, the header `Sec-Fetch-Site` decides. A request without both
    headers is not from a browser and is accepted here; the form's token decides.
    """
    origins = _texts(headers, b"origin")
    sites = _texts(headers, b"sec-fetch-site")
    if any(site != "same-origin" for site in sites):
        return False
    own = {f"{scheme}://{host.lower()}" for host in _texts(headers, b"host")}
    return all(origin in own or (origin == "null" and bool(sites)) for origin in origins)


def _spellings(url: str) -> list[tuple[str, str]]:
    parts = urlsplit(url)
    default = _DEFAULT_PORTS[parts.scheme]
    name = parts.hostname or ""
    if ":" in name:
        name = f"[{name}]"
    port = parts.port or default
    spellings = [(parts.scheme, f"{name}:{port}")]
    if port == default:
        spellings.append((parts.scheme, name))
    return spellings


def _texts(headers: Headers, name: bytes) -> list[str]:
    return [value.decode("latin-1") for value in values(headers, name)]
