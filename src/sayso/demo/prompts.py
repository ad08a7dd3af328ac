"""The prompt `chase_invoice`, and the completion of its argument and of a customer's number."""

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

from anyio import to_thread

from sayso.demo.customers import customer_numbers
from sayso.demo.data import Database
from sayso.demo.invoices import unpaid_invoices
from sayso.demo.limits import Limits
from sayso.demo.resources import CUSTOMER_URI
from sayso.errors import UsageError

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer
    from mcp_types import Completion

PROMPT: Final = "chase_invoice"
MOST_COMPLETIONS: Final = 100
"""The limit of values in one response (MCP, completion/complete)."""

REMINDER: Final = """\
Write a short, friendly reminder to {name} ({email}).
Invoice {id}, "{description}", over {euros}.{cents:02} euros, was sent on {sent_on} and is unpaid.
Say thank you, ask whether anything is unclear, and do not threaten. Do not send anything.
"""


def add_prompts(server: "MCPServer[Any]", database: Database) -> None:
    """Add the prompt, and completion from `database`, to `server`."""
    from mcp import MCPError  # noqa: PLC0415 - an extra
    from mcp_types import INVALID_PARAMS, Completion  # noqa: PLC0415 - an extra

    def chase_invoice(
        invoice_id: Annotated[str, Limits("The number of an unpaid invoice.")],
    ) -> str:
        try:
            return remind(unpaid_invoices(database), invoice_id)
        except UsageError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from error

    async def complete(reference: Any, argument: Any, _context: Any) -> "Completion | None":
        about = reference.name if reference.type == "ref/prompt" else reference.uri
        values = await to_thread.run_sync(
            complete_argument, database, about, argument.name, argument.value
        )
        if values is None:
            return None
        shown = values[:MOST_COMPLETIONS]
        return Completion(values=shown, total=len(values), has_more=len(values) > len(shown))

    server.prompt(
        title="Chase an invoice", description="Write a friendly reminder for an unpaid invoice."
    )(chase_invoice)
    server.completion()(complete)


def remind(unpaid: Sequence[sqlite3.Row], invoice_id: str) -> str:
    """Return the text of the prompt. Raises `UsageError` for any but an unpaid invoice."""
    found = next((invoice for invoice in unpaid if str(invoice["id"]) == invoice_id), None)
    if found is None:
        known = ", ".join(str(invoice["id"]) for invoice in unpaid)
        message = f"{invoice_id!r} is not an unpaid invoice; unpaid are: {known or 'none'}."
        raise UsageError(message)
    euros, cents = divmod(found["amount_cents"], 100)
    return REMINDER.format(**dict(found), euros=euros, cents=cents)


def complete_argument(database: Database, about: str, name: str, typed: str) -> list[str] | None:
    """Return the values that begin with `typed`, of an argument of a prompt or a template."""
    match about, name:
        case "chase_invoice", "invoice_id":
            known = [invoice["id"] for invoice in unpaid_invoices(database)]
        case uri, "customer_id" if uri == CUSTOMER_URI:
            known = customer_numbers(database)
        case _:
            return None
    return [str(number) for number in known if str(number).startswith(typed)]
