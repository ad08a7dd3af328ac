"""The policy page: the current document, the use of its rules, and what-if."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

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
    """Return the routes of the page and of what-if."""
    guard = pages.gateway.guard

    async def show(session: Session, thought: Thought, outlook: Outlook | None) -> Response:
        policy = guard.policy()
        lines: list[str] = []
        trouble = ""
        if isinstance(guard.policy, PolicyFile):
            lines = guard.policy.text.removeprefix("\ufeff").splitlines()
            trouble = str(guard.policy.trouble or "")
        return await pages.page(
            "policy/policy.html",
            session,
            here="policy",
            policy=policy,
            mode=MODES[policy.mode],
            lines=lines,
            trouble=trouble,
            firings=await count_firings(guard.audit, policy),
            unmatched=find_unmatched(pages.gateway),
            most_lines=LINES,
            thought=thought,
            outlook=outlook,
        )

    async def page(request: Request, session: Session) -> Response:
        query = request.query_params
        evidence = await gather(guard.audit, guard.approvals, query.get("call", ""))
        if evidence and evidence.call.last["tool"]:
            return await show(session, Thought.of_call(evidence), None)
        thought = Thought()
        if key := query.get("tool"):
            tool = find_tool(await take_inventory(pages.gateway.upstreams.upstreams), key)
            if tool:
                thought = Thought(tool.qualified_name)
        return await show(session, thought, None)

    async def what_if(_: Request, session: Session, form: dict[str, str]) -> Response:
        thought = Thought.of_form(form)
        return await show(session, thought, await think(guard, thought))

    return [
        Route("/policy", pages.shown(page)),
        Route("/policy/what-if", pages.posted(what_if, Role.VIEWER), methods=["POST"]),
    ]
