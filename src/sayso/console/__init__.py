"""The web console of the gateway, and the API for screens.

The server renders the pages, which work without a script; htmx replaces parts of them. A process
imports the pages with the first request (`lazy_routes`). `gate` checks the headers of each request,
`pages` its session and role. Each page has a module or folder, and a folder in `templates`.
`events` only notifies open pages of a change, and they request the new content. Everything from
servers, models and clients is escaped.

A session is a signed token with person, role, the issuer's roles and a stamp of the access rules. A
change of these rules ends the session. `test_surface.py` and `test_api_surface.py` (tests/console)
check the roles that may use each route. A route that is not in their tables makes them fail.
"""

from typing import TYPE_CHECKING

from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.console.entry.link_client import RunningGateway, ask_for_link, running_gateways
    from sayso.console.entry.link_server import About, LinkServer, serving_links
    from sayso.console.entry.login import Login, Session
    from sayso.console.entry.oidc import Provider, open_provider
    from sayso.console.entry.runtime import private_folder
    from sayso.console.lazy_routes import make_lazy_routes
    from sayso.console.routes import make_routes

__all__ = [
    "About",
    "LinkServer",
    "Login",
    "Provider",
    "RunningGateway",
    "Session",
    "ask_for_link",
    "make_lazy_routes",
    "make_routes",
    "open_provider",
    "private_folder",
    "running_gateways",
    "serving_links",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.console.entry.link_client": ("RunningGateway", "ask_for_link", "running_gateways"),
        "sayso.console.entry.link_server": ("About", "LinkServer", "serving_links"),
        "sayso.console.entry.login": ("Login", "Session"),
        "sayso.console.entry.oidc": ("Provider", "open_provider"),
        "sayso.console.entry.runtime": ("private_folder",),
        "sayso.console.lazy_routes": ("make_lazy_routes",),
        "sayso.console.routes": ("make_routes",),
    },
)
