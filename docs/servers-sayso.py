"""A small server written with sayso; servers-plain.py is the same without."""

from typing import Annotated

from mcp.server import MCPServer
from pydantic import Field
from typing_extensions import TypedDict

import sayso
from sayso.policy import Policy


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

server = MCPServer("customers", log_level="ERROR")
tools = sayso.bind(
    server,
    principal=sayso.Principal("me"),
    policy=Policy(channels=frozenset({"elicitation"})),
    store="temporary",
)


def found(customer_id: int) -> Customer:
    """Return the customer of this number."""
    if customer_id not in CUSTOMERS:
        raise sayso.SaysoError(f"there is no customer {customer_id}")
    return CUSTOMERS[customer_id]


def deletion(customer_id: int) -> dict[str, object]:
    """Return what is deleted with a customer."""
    one = found(customer_id)
    return {"changes": [f"customer {customer_id}", f"{one['invoices']} invoices"], "customer": one}


@tools.tool(sayso.QUERY, category="customers")
def customer_get(customer_id: Number) -> Customer:
    """Get a customer."""
    return found(customer_id)


@tools.tool(sayso.UPSERT, category="customers")
def customer_rename(customer_id: Number, name: str) -> Customer:
    """Rename a customer."""
    one = found(customer_id)
    one["name"] = name
    return one


@tools.tool(
    sayso.DELETE,
    category="customers",
    plan=deletion,
    confirm="Delete {customer.name} and {customer.invoices} invoices?",
)
def customer_delete(customer_id: Number) -> str:
    """Delete a customer with all invoices."""
    return f"{CUSTOMERS.pop(customer_id)['name']} is deleted"


@tools.tool(sayso.DESTRUCTIVE, category="customers", dry_run=True)
def customers_purge(dry_run: bool = False) -> list[Customer]:  # noqa: FBT001, FBT002 - arguments of a tool come by name
    """Delete all customers without invoices."""
    idle = [one for one in CUSTOMERS.values() if not one["invoices"]]
    for one in () if dry_run else idle:
        del CUSTOMERS[one["customer_id"]]
    return idle


if __name__ == "__main__":
    server.run()
