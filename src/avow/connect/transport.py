"""How avow reaches other machines with httpx2: through the environment's proxy, with one TLS."""

from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2

from avow.connect.web.pool import tls


def transport_to(url: str) -> httpx2.AsyncHTTPTransport:
    """Connections to one endpoint, through the proxy that the environment names for it."""
    parts = urlsplit(url)
    is_direct = proxy_bypass(parts.hostname or "")
    proxy = None if is_direct else getproxies().get(parts.scheme)
    return httpx2.AsyncHTTPTransport(verify=tls(), proxy=proxy, trust_env=False)
