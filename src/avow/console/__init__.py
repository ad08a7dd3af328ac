"""Web pages over the gateway: a person looks, decides, and finds out what happened."""

from typing import TYPE_CHECKING

from avow.lazy import lazily

if TYPE_CHECKING:
    from avow.console.entry.link_client import RunningGateway, ask_for_link, running_gateways
    from avow.console.entry.link_server import About, LinkServer, serving_links
    from avow.console.entry.login import Login, Session
    from avow.console.entry.oidc import Provider
    from avow.console.entry.opening import open_provider
    from avow.console.entry.runtime import private_folder
    from avow.console.later import later_routes
    from avow.console.routes import make_routes

__all__ = [
    "About",
    "LinkServer",
    "Login",
    "Provider",
    "RunningGateway",
    "Session",
    "ask_for_link",
    "later_routes",
    "make_routes",
    "open_provider",
    "private_folder",
    "running_gateways",
    "serving_links",
]

__getattr__ = lazily(
    __name__,
    {
        "avow.console.entry.link_client": ("RunningGateway", "ask_for_link", "running_gateways"),
        "avow.console.entry.link_server": ("About", "LinkServer", "serving_links"),
        "avow.console.entry.login": ("Login", "Session"),
        "avow.console.entry.oidc": ("Provider",),
        "avow.console.entry.opening": ("open_provider",),
        "avow.console.entry.runtime": ("private_folder",),
        "avow.console.later": ("later_routes",),
        "avow.console.routes": ("make_routes",),
    },
)
