"""Trying a tool: the form, the decision before anything is sent, the call, and its result."""

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
from sayso.gateway import CONSOLE, Runs
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
    """The form's check, the run, and what becomes of it."""
    desk = _Desk(pages)
    see = Role.APPROVER
    return [
        Route("/tools/{key}/try", pages.posted(desk.check), methods=["POST"]),
        Route("/tools/{key}/run", pages.posted(desk.run), methods=["POST"]),
        Route("/tries/{id}", pages.shown(desk.look, see)),
        Route("/tries/{id}/live", pages.shown(desk.live, see)),
        Route("/tries/{id}/cancel", pages.posted(desk.cancel), methods=["POST"]),
    ]


class _Desk:
    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._guard = pages.gateway.guard
        self._tries = Tries(pages.gateway)
        self._runs = Runs(self._guard.active_calls, pages.gateway.replica_client)

    async def check(self, request: Request, session: Session, form: dict[str, str]) -> Response:
        """Say what is wrong with a form, or what would become of its call; nothing is sent."""
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
        """Make the call that was shown, once, and go to where it can be watched."""
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
            fix = "It was not run a second time. The log shows what became of it."
            return self._pages.problem(409, "This call was made already.", fix)
        caller = _caller_of(session, is_alone=self._pages.is_alone)
        try:
            return _to(self._tries.start(token, session.person, caller, tool, filled.arguments))
        except TooManyError:
            fix = "Nothing was run. Wait until one of them ends, or cancel one."
            return self._pages.problem(429, "You try too many tools at a time.", fix)

    async def look(self, request: Request, session: Session) -> Response:
        """One try: how far it is, the question where one is asked, and how it ended."""
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
        """How far a try is; a page that shows another stage of it is told to come again."""
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
        given = read(WHOLE, {"/": form.get("arguments", "")})
        filled = _switched(tool, given, form, to_json=False)
        is_json = "/" in filled.entries
        filled.errors.clear()
        return await show_tool(self._pages, session, tool, filled=filled, is_json=is_json)

    async def _stage(self, trial: Try) -> tuple[LoggedCall | None, str]:
        """What the log knows of a try, and how it stands: its state, or that it asks."""
        # The state first: a call that ends while the log is read would else have no end there.
        state = trial.state
        call = await self._logged(trial)
        if state is State.DONE:
            # The end of a call that only reads is on record a moment after its answer.
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
    """The same arguments in the other kind of form; as JSON, where fields cannot say them."""
    if to_json:
        return Filled({"/": as_text(filled.arguments)})
    if filled.errors:
        return Filled({"/": form.get("/", "")}, errors=filled.errors)
    entries = entries_of(fields_of(tool.input_schema), filled.arguments)
    if entries is None:
        told = Filled({"/": as_text(filled.arguments)})
        told.note("/", "These arguments hold something that the fields cannot say.")
        return told
    return Filled(entries)


def _to(trial: Try) -> Response:
    return RedirectResponse(f"{HOME}/tries/{trial.id}", 303)


def _caller_of(session: Session, *, is_alone: bool) -> Principal:
    """The principal of a session.

    On a machine of one person that is whoever uses the machine, as of any client there, and the
    question goes to the person at the console: there is nobody else. Where callers prove who they
    are it is that person, so nobody answers for themselves; they hold no scope and no role.
    """
    if is_alone and session.person == PERSON:
        return Principal(LOCAL, client=CONSOLE)
    return Principal(session.person, client=CONSOLE, scopes=frozenset())
