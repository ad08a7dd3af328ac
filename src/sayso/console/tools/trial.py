"""Trying a tool: the form, a preview of the decision, the call, and its result."""

import re
from typing import Any, Final

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sayso.catalog import Tool
from sayso.console.approvals.answering import person_of
from sayso.console.approvals.view import View, view_of
from sayso.console.audit.calls import LoggedCall, read_calls
from sayso.console.entry.login import PERSON, Session
from sayso.console.entry.roles import Role
from sayso.console.forms import found
from sayso.console.home import HOME
from sayso.console.pages import Pages
from sayso.console.text import as_json
from sayso.console.tools.fields import WHOLE, fields_of
from sayso.console.tools.filled import Filled, as_text, entries_of, read, read_checked
from sayso.console.tools.inventory import find_tool, seen_inventory
from sayso.console.tools.page import show_tool
from sayso.console.tools.tree import result_of
from sayso.console.tools.tries import State, TooManyError, Tries, Try, new_token
from sayso.errors import UsageError
from sayso.gateway import CONSOLE, ClusterCalls
from sayso.guard import explain_call
from sayso.policy import LOCAL, Principal
from sayso.schema import redact

_TOKEN: Final = re.compile(r"[0-9a-f]{24}", re.ASCII)
_DAY: Final = 86_400.0
_LINES: Final = 100
_ASKS: Final = "asks"
_LATE_SECONDS: Final = 0.5
_LOOK_SECONDS: Final = 0.02


def trial_routes(pages: Pages) -> list[Route]:
    """Return the routes of checking a form, running the call, and showing its result."""
    views = _Views(pages)
    role = Role.APPROVER
    return [
        Route("/tools/{key}/try", pages.posted(views.check), methods=["POST"]),
        Route("/tools/{key}/run", pages.posted(views.run), methods=["POST"]),
        Route("/tries/{id}", pages.shown(views.look, role)),
        Route("/tries/{id}/live", pages.shown(views.live, role)),
        Route("/tries/{id}/cancel", pages.posted(views.cancel), methods=["POST"]),
    ]


class _Views:
    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._guard = pages.gateway.guard
        self._tries = Tries(pages.gateway)
        self._runs = ClusterCalls(self._guard.active_calls, pages.gateway.replica_client)

    async def check(self, request: Request, session: Session, form: dict[str, str]) -> Response:
        tool = await self._tool(request)
        as_json = form.get("mode") == "json"
        fields = WHOLE if as_json else fields_of(tool.input_schema)
        does = form.get("do", "check")
        if does == "again":
            return await self._begin(session, tool, form)
        if does in ("json", "fields"):
            filled = _switched(tool, read(fields, form), form, to_json=does == "json")
            is_json = does == "json" or "/" in filled.entries
            return await show_tool(self._pages, session, tool, filled=filled, is_json=is_json)
        checker = self._guard.schemas.of(tool).arguments
        filled = await read_checked(fields, form, checker, session.person)
        if filled.errors:
            return await show_tool(self._pages, session, tool, filled=filled, is_json=as_json)
        return await self._explained(session, tool, filled, is_json=as_json)

    async def run(self, request: Request, session: Session, form: dict[str, str]) -> Response:
        tool = await self._tool(request)
        token = form.get("token", "")
        filled = read(WHOLE, {"/": form.get("arguments", "")})
        if filled.errors or not _TOKEN.fullmatch(token):
            raise HTTPException(400)
        if form.get("fingerprint") != tool.fingerprint:
            return await self._explained(session, tool, filled, is_json=True, has_changed=True)
        again = await self._tries.look(self._tries.id_of(token), session.person)
        if again is not None:
            return _to(again)
        now = self._guard.clock()
        name = f"console try {token}"
        if not await self._guard.approvals.tokens.spend(name, now=now, expires=now + _DAY):
            fix = "The call was not run again. The log shows its outcome."
            return self._pages.problem(409, "This call was already made.", fix)
        caller = _caller_of(session, is_alone=self._pages.is_alone)
        try:
            return _to(self._tries.start(token, session.person, caller, tool, filled.arguments))
        except TooManyError:
            fix = "Nothing was run. Wait until one ends, or cancel one."
            return self._pages.problem(429, "You have too many running tries.", fix)

    async def look(self, request: Request, session: Session) -> Response:
        """Show a try: its progress, its question if any, and its result."""
        trial = await self._own(request, session)
        call, stage = await self._stage(trial)
        result = None
        if trial.answer is not None:
            result = result_of(trial.answer)
        return await self._pages.page(
            "tools/try.html",
            session,
            here="tools",
            one=trial,
            stage=stage,
            call=call,
            view=await self._asked(call, session),
            known=redact(trial.arguments),
            again=as_text(trial.arguments),
            token=new_token(),
            result=result,
        )

    async def live(self, request: Request, session: Session) -> Response:
        trial = await self._own(request, session)
        _, stage = await self._stage(trial)
        part = self._pages.render("tools/far.html", one=trial, stage=stage)
        if request.query_params.get("seen") != stage:
            part.headers["HX-Refresh"] = "true"
        return part

    async def cancel(self, request: Request, session: Session, _: dict[str, str]) -> Response:
        trial = await self._own(request, session)
        await self._tries.stop(trial)
        return _to(trial)

    async def _explained(
        self, session: Session, tool: Tool, filled: Filled, *, is_json: bool, **more: Any
    ) -> Response:
        caller = _caller_of(session, is_alone=self._pages.is_alone)
        try:
            explained = await explain_call(self._guard, caller, tool, filled.arguments)
        except UsageError as error:
            filled.note("/", f"{error}.")
            return await show_tool(self._pages, session, tool, filled=filled, is_json=is_json)
        return await show_tool(
            self._pages,
            session,
            tool,
            filled=filled,
            is_json=is_json,
            explained=explained,
            who=caller,
            given=as_text(filled.arguments),
            shown=as_json(redact(filled.arguments), 2),
            token=new_token(),
            **{"has_changed": False, **more},
        )

    async def _begin(self, session: Session, tool: Tool, form: dict[str, str]) -> Response:
        entered = read(WHOLE, {"/": form.get("arguments", "")})
        filled = _switched(tool, entered, form, to_json=False)
        is_json = "/" in filled.entries
        filled.errors.clear()
        return await show_tool(self._pages, session, tool, filled=filled, is_json=is_json)

    async def _stage(self, trial: Try) -> tuple[LoggedCall | None, str]:
        """Return a try's logged call and its state: `_ASKS` while its question is pending."""
        # Read the state first, because the call may end while the log is read.
        state = trial.state
        call = await self._logged(trial)
        if state is State.DONE:
            # A read's outcome is recorded shortly after its answer.
            with anyio.move_on_after(_LATE_SECONDS):
                while call is None or not call.outcome:
                    await anyio.sleep(_LOOK_SECONDS)
                    call = await self._logged(trial)
        if state is State.RUNNING and call is not None and call.approval is not None:
            approval = await self._guard.approvals.find(call.approval)
            if approval is not None and approval.state == "pending":
                return call, _ASKS
        return call, str(state)

    async def _logged(self, trial: Try) -> LoggedCall | None:
        rows = await self._guard.audit.newest(call=trial.call, limit=_LINES)
        return next(iter(read_calls(rows)), None)

    async def _asked(self, call: LoggedCall | None, session: Session) -> View | None:
        if call is None or call.approval is None:
            return None
        approval = await self._guard.approvals.find(call.approval)
        if approval is None:
            return None
        return await view_of(self._guard, self._runs, approval, person_of(session))

    async def _tool(self, request: Request) -> Tool:
        inventory = await seen_inventory(self._pages.gateway)
        return found(find_tool(inventory, request.path_params["key"]))

    async def _own(self, request: Request, session: Session) -> Try:
        return found(await self._tries.look(request.path_params["id"], session.person))


def _switched(tool: Tool, filled: Filled, form: dict[str, str], *, to_json: bool) -> Filled:
    """Convert a form between JSON and fields; arguments that fields cannot express stay JSON."""
    if to_json:
        return Filled({"/": as_text(filled.arguments)})
    if filled.errors:
        return Filled({"/": form.get("/", "")}, errors=filled.errors)
    entries = entries_of(fields_of(tool.input_schema), filled.arguments)
    if entries is None:
        as_json = Filled({"/": as_text(filled.arguments)})
        as_json.note("/", "These arguments contain values that the fields cannot express.")
        return as_json
    return Filled(entries)


def _to(trial: Try) -> Response:
    return RedirectResponse(f"{HOME}/tries/{trial.id}", 303)


def _caller_of(session: Session, *, is_alone: bool) -> Principal:
    """Return the principal of a session's calls.

    On a machine with one user, that user makes the calls and answers in the console. With
    authentication, the person makes them without scopes and roles, and another person must answer.
    """
    if is_alone and session.person == PERSON:
        return Principal(LOCAL, client=CONSOLE)
    return Principal(session.person, client=CONSOLE, scopes=frozenset())
