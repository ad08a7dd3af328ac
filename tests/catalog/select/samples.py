"""Tools to select from."""

from typing import Any

from sayso.catalog import Tool, make_tool

READ = {"readOnlyHint": True}
DESTROYS = {"readOnlyHint": False, "destructiveHint": True}


def tool(
    name: str, description: str = "", server: str = "crm", *, destroys: bool = False, **more: Any
) -> Tool:
    """A tool that reads, or destroys."""
    hints = DESTROYS if destroys else READ
    raw = {"name": name, "description": description, "annotations": hints, **more}
    return make_tool(server, raw)


CRM = [
    tool("customer_list", "List customers."),
    tool("customer_delete", "Delete a customer for good.", destroys=True),
    tool("file_delete", "Delete a file.", destroys=True),
    tool("mail_send", "Send a mail.", destroys=True),
    tool("report_export", "Export a report as PDF."),
]
