"""MCP in front of other MCP servers, with the guard before every tool."""

from avow.gateway.app import PATH, Gateway, make_app, make_desk, open_gateway

__all__ = ["PATH", "Gateway", "make_app", "make_desk", "open_gateway"]
