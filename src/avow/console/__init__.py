"""Web pages over the gateway: a person looks, decides, and finds out what happened."""

from avow.console.login import Login, Session
from avow.console.routes import make_routes

__all__ = ["Login", "Session", "make_routes"]
