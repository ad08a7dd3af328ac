"""Many tools: the gateway lists a few that find and call the others (`tools = "search"`)."""

from avow.gateway.search.search import Search
from avow.gateway.search.tools import HOW, META_TOOLS

__all__ = ["HOW", "META_TOOLS", "Search"]
