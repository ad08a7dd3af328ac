"""Search for gateways with many tools: a few listed tools find and call the others."""

from sayso.gateway.search.search import Search
from sayso.gateway.search.tools import HOW, META_TOOLS

__all__ = ["HOW", "META_TOOLS", "Search"]
