"""The prompt page: the current system prompt for one caller."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sayso.console.entry.login import Session
from sayso.console.pages import Pages
from sayso.console.tools.inventory import take_inventory
from sayso.policy import LOCAL, Principal
from sayso.prompt import build

_LONGEST = 200


def prompt_routes(pages: Pages) -> list[Route]:
    """Return the route of the page."""
    gateway = pages.gateway

    async def show(request: Request, session: Session) -> Response:
        inventory = await take_inventory(gateway.upstreams.upstreams)
        asked = {
            name: request.query_params.get(name, "").strip()[:_LONGEST]
            for name in ("as", "client", "scopes", "roles")
        }
        caller = caller_of(asked)
        made = build(
            inventory.tools,
            principal=caller,
            policy=gateway.guard.policy(),
            look=gateway.guard.sight.of,
        )
        return await pages.page(
            "prompt/prompt.html",
            session,
            here="prompt",
            asked=asked,
            caller=caller,
            made=made,
            problems=inventory.problems,
        )

    return [Route("/prompt", pages.shown(show))]


def caller_of(asked: dict[str, str]) -> Principal:
    """Return the caller that a form names. Without any scopes and roles, neither is checked.

    >>> caller_of({"as": "amy", "client": "", "scopes": "a, b", "roles": ""}).scopes == {"a", "b"}
    True
    """
    scopes, roles = (frozenset(asked[key].replace(",", " ").split()) for key in ("scopes", "roles"))
    subject = asked["as"] or LOCAL
    client = asked["client"] or "unknown"
    if not scopes and not roles:
        return Principal(subject, client)
    return Principal(subject, client, scopes, roles)
