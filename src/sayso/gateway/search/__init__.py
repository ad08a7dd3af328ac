"""Many tools: the gateway lists a few that find and call the others (`tools = "search"`)."""

from sayso.gateway.search.search import Search
from sayso.gateway.search.tools import HOW, META_TOOLS

__all__ = ["HOW", "META_TOOLS", "Search"]
