"""A small real MCP server to try sayso on: the customers and invoices of a design studio.

Run it with `python -m sayso.demo [--data FILE]`, and look at a gateway in front of it with
`python -m sayso.demo.client URL`. `sayso.demo.server` is the same server, bound with the MCP SDK.
"""

from typing import TYPE_CHECKING

from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.demo.guests import visit


__all__ = ["visit"]

__getattr__ = lazily(
    __name__,
    {
        "sayso.demo.guests": ("visit",),
    },
)
