"""Endpoints for questions: pending, settled, and answering."""

import re
from collections.abc import Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sayso.approvals import Answer, Approval, patched
from sayso.console.api.authentication import Authentication
from sayso.console.api.document import read_answer
from sayso.console.api.problem import ProblemError
from sayso.console.api.shapes import approval_shape
from sayso.console.approvals.answering import DENY, Person, answer_by, person_of
from sayso.console.approvals.editing import difference
from sayso.console.approvals.reply import CHANGED, MISSED, TWICE, check_given, why_not
from sayso.console.entry.login import Session
from sayso.console.entry.roles import Role
from sayso.console.forms import number_in
from sayso.errors import UsageError
from sayso.guard import Guard
from sayso.intent import Span

_MOST: Final = 100
_STATES: Final = ("pending", "settled")
_CODES: Final = {MISSED: "late", CHANGED: "changed", TWICE: "twice"}


class ApprovalEndpoints:
    """Lists questions, returns one, and takes answers. `base` is the console's URL."""

    def __init__(self, guard: Guard, authentication: Authentication, base: str) -> None:
        self._guard = guard
        self._authentication = authentication
        self._base = base

    async def all(self, request: Request) -> Response:
        """Return a page of questions: pending ones, oldest first, or settled ones, newest first."""
        session = (await self._authentication.authenticate(request)).require(Role.VIEWER)
        state = _state(request)
        limit = _limit(request)
        start = _cursor(request)
        approvals = self._guard.approvals
        if state == "pending":
            found = await approvals.pending(limit + 1, after=start or 0)
        else:
            found = await approvals.settled(limit + 1, before=start)
        page = found[:limit]
        cursor = str(page[-1].number) if len(found) > limit else None
        shapes = [self.shape(approval, session) for approval in page]
        return JSONResponse({"approvals": shapes, "next_cursor": cursor})

    async def one(self, request: Request) -> Response:
        session = (await self._authentication.authenticate(request)).require(Role.VIEWER)
        return await self._one(await self._find(request), session)

    async def answer(self, request: Request) -> Response:
        session = (await self._authentication.authenticate(request)).require(Role.APPROVER)
        body = await read_answer(request)
        approval = await self._find(request)
        try:
            answer = _answer(body, approval, person_of(session))
            await check_given(self._guard, answer, approval)
            has_counted = await self._guard.approvals.answer(approval.number, answer)
        except UsageError as error:
            raise ProblemError(403, "barred", _sentence(error, session.person)) from None
        now = await self._guard.approvals.find(approval.number)
        if not has_counted or now is None:
            why = why_not(body.get("seen", ""), now)
            raise ProblemError(409, _CODES[why], why)
        return await self._one(now, session)

    def shape(self, approval: Approval, session: Session) -> dict[str, Any]:
        return approval_shape(approval, session, self._guard.policy(), base=self._base)

    async def _one(self, approval: Approval, session: Session) -> Response:
        answers = await self._guard.approvals.answers(approval.number)
        policy = self._guard.policy()
        return JSONResponse(
            approval_shape(approval, session, policy, base=self._base, answers=answers)
        )

    async def _find(self, request: Request) -> Approval:
        number = number_in(request.path_params["number"])
        if number is not None and (found := await self._guard.approvals.find(number)):
            return found
        raise ProblemError(404, "absent", "Question not found.")


def _answer(body: Mapping[str, Any], approval: Approval, person: Person) -> Answer:
    """Return the answer in a valid body. Raises `UsageError` for an edit without changes."""
    edit = None
    if "edit" in body:
        edit = _edit(body["edit"], approval)
    return answer_by(
        person,
        approval,
        body,
        is_allowed=body["verdict"] != DENY,
        span=Span(body.get("span", Span.ONCE)),
        is_for_arguments=body.get("is_for_arguments", False),
        edit=edit,
    )


def _edit(edit: Mapping[str, Any], approval: Approval) -> Mapping[str, Any] | None:
    before = approval.question.arguments
    change = difference(before, patched(before, edit))
    if not change:
        raise UsageError(
            "the edit changes nothing", fix="Change an argument, or allow the call as it is."
        )
    if change == approval.edit:
        return None
    return change


def _state(request: Request) -> str:
    state = request.query_params.get("state", "pending")
    if state not in _STATES:
        raise ProblemError(400, "parameter", "“state” must be pending or settled.")
    return state


def _limit(request: Request) -> int:
    text = request.query_params.get("limit", "50")
    if not re.fullmatch(r"[1-9][0-9]{0,2}", text, re.ASCII) or int(text) > _MOST:
        raise ProblemError(400, "parameter", f"“limit” must be a number from 1 to {_MOST}.")
    return int(text)


def _cursor(request: Request) -> int | None:
    text = request.query_params.get("cursor")
    if text is not None and number_in(text) is None:
        raise ProblemError(400, "parameter", "“cursor” must be an earlier “next_cursor”.")
    return number_in(text or "")


def _sentence(error: UsageError, name: str) -> str:
    """Return an error as a sentence with a capital letter, except for a person's name."""
    what = error.what
    if not what.startswith(name):
        what = f"{what[:1].upper()}{what[1:]}"
    return f"{what.rstrip('.')}. {error.fix or 'Nothing was changed.'}"
