"""Web pages over the gateway: a person looks, decides, and finds out what happened."""

from typing import TYPE_CHECKING

from avow.lazy import lazily

if TYPE_CHECKING:
    from avow.console.entry.login import Login, Session
    from avow.console.entry.oidc import Provider
    from avow.console.entry.opening import open_provider
    from avow.console.later import later_routes
    from avow.console.routes import make_routes

__all__ = ["Login", "Provider", "Session", "later_routes", "make_routes", "open_provider"]

__getattr__ = lazily(
    __name__,
    {
        "avow.console.entry.login": ("Login", "Session"),
        "avow.console.entry.oidc": ("Provider",),
        "avow.console.entry.opening": ("open_provider",),
        "avow.console.later": ("later_routes",),
        "avow.console.routes": ("make_routes",),
    },
)
