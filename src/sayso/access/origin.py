"""By which name sayso was called, and which page sent a request.

A web page may send requests to any address from its reader's browser. It cannot choose the `Host`
and `Origin` that go with them, so these tell it from a client, and also where its author has let
a name of his own point at this machine (DNS rebinding).
"""

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from sayso.access.request_info import Headers, values

_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
_EVERYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104 - told from a name, and never bound
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Names:
    """What `Host` and `Origin` may say: the names of one sayso."""

    hosts: frozenset[str]
    origins: frozenset[str]


def own_names(base_url: str, public_url: str | None = None) -> Names:
    """The names of a sayso that listens at `base_url`, and that others reach at `public_url`.

    Those are the loopback names with its own port, and the two that are given; `0.0.0.0` is an
    address to listen on, and nobody's name. A default port may be left out, as browsers do.

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
    spelt = [spelling for url in urls for spelling in _spellings(url)]
    return Names(
        hosts=frozenset(host for _, host in spelt),
        origins=frozenset(f"{scheme}://{host}" for scheme, host in spelt),
    )


def is_own_host(headers: Headers, names: Names) -> bool:
    """Return whether a request names sayso, once, as its host."""
    said = values(headers, b"host")
    return len(said) == 1 and said[0].decode("latin-1").lower() in names.hosts


def is_own_origin(headers: Headers, names: Names) -> bool:
    """Return whether a request comes from no page, or from one of sayso's own.

    No client that is a program sends `Origin`; `null` is what a browser sends for a page that it
    keeps apart, and it is not ours.
    """
    return all(origin.lower() in names.origins for origin in _texts(headers, b"origin"))


def is_same_origin(headers: Headers, scheme: str) -> bool:
    """Return whether, by its browser's headers, the console itself sent a form.

    A browser sends `Origin: null` from a page with `Referrer-Policy: no-referrer`, which all of
    ours have (Fetch, section 3.2); then `Sec-Fetch-Site` must say it. A client that sends neither
    is no browser, and the token in the form decides.
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
