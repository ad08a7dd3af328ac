"""A small server on the official SDK alone; servers-sayso.py is the same with sayso.

What it still lacks: scopes, plans that are taken again, approvals over other channels, standing
answers, limits, a record that shows when it was changed, keys of calls that must happen once.
"""

import json
import logging
import sqlite3
import uuid
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field, ValidationError
from typing_extensions import TypedDict, override

# A file that is gone with the process.
RECORD = sqlite3.connect("", isolation_level=None, check_same_thread=False)
RECORD.execute("CREATE TABLE calls (id TEXT, event TEXT, tool TEXT, arguments TEXT, at TEXT)")

log = logging.getLogger(__name__)


def write_down(call: str, event: str, tool: str, arguments: Mapping[str, Any]) -> None:
    """One line of the record."""
    RECORD.execute(
        "INSERT INTO calls VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP)",
        (call, event, tool, json.dumps(dict(arguments))),
    )


class StrictTool(Tool):
    """A tool that runs on exactly the arguments of its schema, and is on record."""

    @override
    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> Any:
        try:
            self.fn_metadata.arg_model.model_validate(arguments)
        except ValidationError as error:
            wrong = [f"- {'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
            said = "\n".join(["Nothing was run: these arguments do not fit the tool.", *wrong])
            raise ToolError(said) from error
        call = uuid.uuid4().hex
        write_down(call, "attempt", self.name, arguments)
        try:
            answer = await super().run(arguments, context, convert_result)
        except ToolError:
            write_down(call, "tool_error", self.name, arguments)
            raise
        except Exception:
            incident = uuid.uuid4().hex[:12]
            log.exception("incident %s", incident)
            write_down(call, "crash", self.name, arguments)
            raise ToolError(f"“{self.title}” failed (incident {incident}).") from None
        write_down(call, "ok", self.name, arguments)
        return answer


def declared(function: Callable[..., Any], *, title: str, **hints: bool) -> Tool:
    """Make a function a strict tool with all four hints and a closed schema."""
    tool = StrictTool.from_function(
        function,
        title=title,
        annotations=ToolAnnotations.model_validate({"title": title, **hints}),
        meta={"io.sayso/intent": {"category": "customers"}},
    )
    model = tool.fn_metadata.arg_model
    model.model_config.update(extra="forbid", strict=True)
    model.model_rebuild(force=True)
    parameters = {**tool.parameters, "additionalProperties": False}
    return tool.model_copy(update={"parameters": parameters})


class Customer(TypedDict):
    """One customer."""

    customer_id: int
    name: str
    invoices: int


Number = Annotated[int, Field(ge=1)]
CUSTOMERS = {
    1: Customer(customer_id=1, name="Ann", invoices=3),
    2: Customer(customer_id=2, name="Bo", invoices=0),
}


class Approval(BaseModel):
    """What a person answers."""

    approve: bool


def found(customer_id: int) -> Customer:
    """Return the customer of this number."""
    if customer_id not in CUSTOMERS:
        raise ToolError(f"there is no customer {customer_id}")
    return CUSTOMERS[customer_id]


async def ask_to_delete(customer_id: int) -> Elicit[Approval]:
    """Ask the person at the client."""
    one = found(customer_id)
    return Elicit(f"Delete {one['name']} and {one['invoices']} invoices?", Approval)


async def ask_to_purge(dry_run: bool) -> Elicit[Approval] | Approval:  # noqa: FBT001 - as the tool
    """Ask the person at the client, unless nothing will be changed."""
    return Approval(approve=True) if dry_run else Elicit("Delete idle customers?", Approval)


def require(answer: ElicitationResult[Approval]) -> None:
    """Go on only with a yes."""
    if not isinstance(answer, AcceptedElicitation) or not answer.data.approve:
        raise ToolError("A person denied this call. Nothing was run.")


def customer_get(customer_id: Number) -> Customer:
    """Get a customer."""
    return found(customer_id)


def customer_rename(customer_id: Number, name: str) -> Customer:
    """Rename a customer."""
    one = found(customer_id)
    one["name"] = name
    return one


def customer_delete(
    customer_id: Number, answer: Annotated[ElicitationResult[Approval], Resolve(ask_to_delete)]
) -> str:
    """Delete a customer with all invoices."""
    require(answer)
    return f"{CUSTOMERS.pop(customer_id)['name']} is deleted"


def customers_purge(
    answer: Annotated[ElicitationResult[Approval], Resolve(ask_to_purge)],
    dry_run: bool = False,  # noqa: FBT001, FBT002 - arguments of a tool come by name
) -> list[Customer]:
    """Delete all customers without invoices."""
    require(answer)
    idle = [one for one in CUSTOMERS.values() if not one["invoices"]]
    for one in () if dry_run else idle:
        del CUSTOMERS[one["customer_id"]]
    return idle


READS = {
    "readOnlyHint": True,
    "destructiveHint": False,
    "idempotentHint": True,
    "openWorldHint": False,
}
UPSERTS = READS | {"readOnlyHint": False}
DESTROYS = UPSERTS | {"destructiveHint": True, "idempotentHint": False}

server = MCPServer(
    "customers",
    log_level="ERROR",
    tools=[
        declared(customer_get, title="Get customer", **READS),
        declared(customer_rename, title="Rename customer", **UPSERTS),
        declared(customer_delete, title="Delete customer", **DESTROYS),
        declared(customers_purge, title="Purge customers", **DESTROYS),
    ],
)

if __name__ == "__main__":
    server.run()
