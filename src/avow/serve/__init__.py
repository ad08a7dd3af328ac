"""For people who write servers: tools declared once, and everything follows from that.

One guard stands before all tools of a server, whichever framework it is written with.
"""

from avow.serve.binding import Tools, bind, declare
from avow.serve.context import Context, context
from avow.serve.definition import ToolDefinition
from avow.serve.page import Page
from avow.serve.result import Result

__all__ = ["Context", "Page", "Result", "ToolDefinition", "Tools", "bind", "context", "declare"]
