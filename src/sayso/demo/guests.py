"""The demo's agents, which call its tools at the start, so that the console has content.

Their calls are real and pass the guard; only the agents are made up, as their names say.
"""

from collections.abc import Mapping
from typing import Any, Final, cast

from sayso.approvals import Approval, ApprovalState
from sayso.connect import RpcError
from sayso.errors import SaysoError
from sayso.guard import META_APPROVAL, Guard
from sayso.policy import LOCAL, Principal

SERVER: Final = "demo"

BILLING: Final = "demo billing agent"
TIDYING: Final = "demo tidying agent"

CALLS: Final[tuple[tuple[str, str, Mapping[str, Any]], ...]] = (
    (BILLING, "customers_list", {"status": "active"}),
    (BILLING, "customers_get", {"customer_id": 7}),
    (
        BILLING,
        "invoice_create_draft",
        {"customer_id": 7, "description": "Course programme 2027", "amount_cents": 138_000},
    ),
    # This call fails, because the customer is closed.
    (
        BILLING,
        "invoice_create_draft",
        {"customer_id": 12, "description": "Reprint", "amount_cents": 9_000},
    ),
    (TIDYING, "customers_list", {"status": "closed"}),
    (TIDYING, "customers_get", {"customer_id": 12}),
)
"""The calls that ask no one."""

ASKED: Final = "customer_delete", {"customer_id": 12}
"""The call that asks: it deletes a customer whose files must be kept, as a note says."""


async def visit(guard: Guard) -> None:
    """Make all calls, and repeat the last one until a person answers it."""
    for client, tool, arguments in CALLS:
        if await _call(guard, client, tool, arguments) is None:
            return
    tool, arguments = ASKED
    while (answer := await _call(guard, TIDYING, tool, arguments)) is not None:
        meta = cast("Mapping[str, Any]", answer.get("_meta") or {})
        question = meta.get(META_APPROVAL)
        if question is None or question["state"] != ApprovalState.PENDING:
            return
        if not await _is_over(guard, question["number"]):
            return


async def _call(
    guard: Guard, client: str, tool: str, arguments: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """Return a call's answer, or `None` if it failed."""
    try:
        return await guard.call(Principal(LOCAL, client=client), f"{SERVER}__{tool}", arguments)
    except (SaysoError, RpcError):
        return None


async def _is_over(guard: Guard, number: int) -> bool:
    """Wait until a question is closed, and return whether to repeat its call."""
    approval: Approval | None = await guard.approvals.wait(number, float("inf"))
    return approval is not None and approval.state in (
        ApprovalState.APPROVED,
        ApprovalState.EXPIRED,
    )
