"""The policy page: the document that counts, the rules that decide most, and what if."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sayso.console.approvals.queue import load_queue
from sayso.console.audit.evidence import gather
from sayso.console.entry.login import Session
from sayso.console.entry.roles import Role
from sayso.console.pages import Pages
from sayso.console.policy.firing import LINES, count_firings
from sayso.console.policy.whatif import Outlook, Thought, think
from sayso.console.tools.inventory import find_tool, take_inventory
from sayso.console.words import MODES
from sayso.gateway import find_unmatched
from sayso.guard import PolicyFile


def policy_routes(pages: Pages) -> list[Route]:
    """The page, and the same with an answer to what if."""
    guard = pages.gateway.guard

    async def show(session: Session, thought: Thought, outlook: Outlook | None) -> Response:
        policy = guard.policy()
        file = guard.policy if isinstance(guard.policy, PolicyFile) else None
        values: dict[str, Any] = {
            "policy": policy,
            "mode": MODES[policy.mode],
            "lines": file.text.removeprefix("\ufeff").splitlines() if file else [],
            "trouble": str(file.trouble) if file and file.trouble else "",
            "firings": await count_firings(guard.audit, policy),
            "unmatched": find_unmatched(pages.gateway),
            "most_lines": LINES,
            "thought": thought,
            "outlook": outlook,
        }
        queue = await load_queue(guard)
        return pages.page("policy/policy.html", session, queue, here="policy", **values)

    async def page(request: Request, session: Session) -> Response:
        query = request.query_params
        evidence = await gather(guard.audit, guard.approvals, query.get("call", ""))
        is_whole = evidence is not None and bool(evidence.call.last["tool"])
        if evidence and is_whole:
            return await show(session, Thought.of_call(evidence), None)
        key = query.get("tool")
        tool = key and find_tool(await take_inventory(pages.gateway.fleet.upstreams), key)
        thought = Thought(tool.qualified_name) if tool else Thought()
        return await show(session, thought, None)

    async def what_if(_: Request, session: Session, form: dict[str, str]) -> Response:
        thought = Thought.of_form(form)
        return await show(session, thought, await think(guard, thought))

    return [
        Route("/policy", pages.shown(page)),
        Route("/policy/what-if", pages.posted(what_if, Role.VIEWER), methods=["POST"]),
    ]
