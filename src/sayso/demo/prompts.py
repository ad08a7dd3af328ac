"""The prompt `chase_invoice`, and the completion of its argument and of a customer's number."""

import sqlite3
from collections.abc import Sequence
from typing import Annotated, Any, Final

from anyio import to_thread
from mcp import MCPError
from mcp.server.mcpserver import MCPServer
from mcp_types import (
    INVALID_PARAMS,
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)
from pydantic import Field

from sayso.demo.customers import customer_numbers
from sayso.demo.data import Database
from sayso.demo.invoices import unpaid_invoices
from sayso.demo.resources import CUSTOMER_URI

MOST_COMPLETIONS: Final = 100
"""The limit of values in one response (MCP, completion/complete)."""

REMINDER: Final = """\
Write a short, friendly reminder to {name} ({email}).
Invoice {id}, "{description}", over {euros}.{cents:02} euros, was sent on {sent_on} and is unpaid.
Say thank you, ask whether anything is unclear, and do not threaten. Do not send anything.
"""


def add_prompts(server: MCPServer[Any], database: Database) -> None:
    """Add the prompt, and completion from `database`, to `server`."""

    def chase_invoice(
        invoice_id: Annotated[str, Field(description="The number of an unpaid invoice.")],
    ) -> str:
        return _reminder(unpaid_invoices(database), invoice_id)

    async def complete(
        reference: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        _context: CompletionContext | None,
    ) -> Completion | None:
        match reference, argument.name:
            case PromptReference(name="chase_invoice"), "invoice_id":
                unpaid = await to_thread.run_sync(unpaid_invoices, database)
                return _complete([invoice["id"] for invoice in unpaid], argument.value)
            case ResourceTemplateReference(uri=uri), "customer_id" if uri == CUSTOMER_URI:
                known = await to_thread.run_sync(customer_numbers, database)
                return _complete(known, argument.value)
            case _:
                return None

    server.prompt(
        title="Chase an invoice", description="Write a friendly reminder for an unpaid invoice."
    )(chase_invoice)
    server.completion()(complete)


def _reminder(unpaid: Sequence[sqlite3.Row], invoice_id: str) -> str:
    found = next((invoice for invoice in unpaid if str(invoice["id"]) == invoice_id), None)
    if found is None:
        known = ", ".join(str(invoice["id"]) for invoice in unpaid)
        message = f"{invoice_id!r} is not an unpaid invoice; unpaid are: {known or 'none'}."
        raise MCPError(INVALID_PARAMS, message)
    euros, cents = divmod(found["amount_cents"], 100)
    return REMINDER.format(**dict(found), euros=euros, cents=cents)


def _complete(known: Sequence[int], typed: str) -> Completion:
    values = [str(number) for number in known if str(number).startswith(typed)]
    shown = values[:MOST_COMPLETIONS]
    return Completion(values=shown, total=len(values), has_more=len(values) > len(shown))
