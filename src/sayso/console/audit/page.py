"""The audit pages: log, call, conversation, rule, test and chain."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from sayso.console import words
from sayso.console.audit.chain import Checker
from sayso.console.audit.evidence import Evidence, gather
from sayso.console.audit.filters import Form, choices
from sayso.console.audit.listing import PAGE, TYPES, conversation_of, exported, list_calls
from sayso.console.audit.snippets import EFFECTS, Wish, make_rule, make_test
from sayso.console.entry.login import Session
from sayso.console.entry.roles import Role
from sayso.console.forms import found, number_in
from sayso.console.home import HOME
from sayso.console.pages import Pages

_NAMES: Final[Mapping[str, Callable[[str], str]]] = {
    "level": lambda value: words.LEVELS[value].name,
    "decision": lambda value: words.DECISIONS[value],
    "outcome": lambda value: value.replace("_", " "),
    "severity": str,
}


def audit_routes(pages: Pages) -> list[Route]:
    """Return the routes of the audit pages."""
    views = _Views(pages)
    return [
        Route("/audit", pages.shown(views.log)),
        Route("/audit/export", pages.shown(views.export, Role.ADMIN)),
        Route("/audit/chain", pages.shown(views.chain)),
        Route("/audit/chain/check", pages.posted(views.check), methods=["POST"]),
        Route("/audit/{call}", pages.shown(views.one)),
        Route("/audit/{call}/conversation", pages.shown(views.conversation)),
        Route("/audit/{call}/rule", pages.shown(views.rule)),
        Route("/audit/{call}/test", pages.shown(views.test)),
    ]


class _Views:
    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._guard = pages.gateway.guard
        self._log = self._guard.audit
        self._checker = Checker(self._log, pages.gateway.keys, self._guard.shutdown)

    async def log(self, request: Request, session: Session) -> Response:
        form = Form.read(request.query_params)
        before = number_in(request.query_params.get("before", ""))
        listing = await list_calls(self._log, form.filter, before)
        return await self._page(
            "audit/audit.html",
            session,
            form=form,
            listing=listing,
            before=before,
            most=PAGE,
            choices=choices(lambda field, value: _NAMES[field](value)),
            servers=sorted(upstream.name for upstream in self._pages.gateway.upstreams.upstreams),
            checker=self._checker,
        )

    async def export(self, request: Request, _: Session) -> Response:
        kind = request.query_params.get("format", "jsonl")
        if kind not in TYPES:
            return self._pages.problem(400, f"Unknown format “{kind}”.", "Use jsonl or csv.")
        form = Form.read(request.query_params)
        if form.mistakes:
            # A file with more than the filter selects would be misleading.
            return self._pages.problem(400, form.mistakes[0], "Fix the filter, and export again.")
        name = {"Content-Disposition": f'attachment; filename="sayso-audit.{kind}"'}
        text = exported(self._log.records, form.filter, kind)
        return StreamingResponse(text, media_type=TYPES[kind], headers=name)

    async def one(self, request: Request, session: Session) -> Response:
        evidence = await self._evidence(request)
        form = Form.read(request.query_params)
        return await self._page("audit/call.html", session, evidence=evidence, form=form)

    async def conversation(self, request: Request, session: Session) -> Response:
        evidence = await self._evidence(request)
        place = evidence.places[-1]
        idle = self._guard.approvals.idle
        calls = None
        if not evidence.is_erased:
            calls = await conversation_of(self._log, place.line, place.seq, idle=idle)
        return await self._page(
            "audit/conversation.html", session, evidence=evidence, found=calls, idle=idle
        )

    async def rule(self, request: Request, session: Session) -> Response:
        evidence = await self._of_tool(request)
        asked = request.query_params
        effect = asked.get("effect")
        wish = Wish(
            effect=effect if effect in EFFECTS else EFFECTS[0],
            with_client="client" in asked,
            with_subject="subject" in asked and not evidence.is_erased,
            with_arguments="arguments" in asked and not evidence.is_erased,
        )
        snippet = make_rule(evidence.call.last, wish)
        return await self._page(
            "audit/rule.html", session, evidence=evidence, snippet=snippet, wish=wish
        )

    async def test(self, request: Request, session: Session) -> Response:
        evidence = await self._of_tool(request)
        snippet = make_test(evidence.call.last, self._guard.policy())
        return await self._page("audit/test.html", session, evidence=evidence, snippet=snippet)

    async def chain(self, _: Request, session: Session) -> Response:
        return await self._page("audit/chain.html", session, checker=self._checker)

    async def check(self, _: Request, __: Session, ___: dict[str, str]) -> Response:
        self._checker.start()
        return RedirectResponse(f"{HOME}/audit/chain", 303)

    async def _evidence(self, request: Request) -> Evidence:
        call = request.path_params["call"]
        return found(await gather(self._log, self._guard.approvals, call))

    async def _of_tool(self, request: Request) -> Evidence:
        evidence = await self._evidence(request)
        if not evidence.call.last["tool"]:
            raise HTTPException(404)
        return evidence

    async def _page(self, template: str, session: Session, **values: Any) -> Response:
        return await self._pages.page(template, session, here="audit", **values)
