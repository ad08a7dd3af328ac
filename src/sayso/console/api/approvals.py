"""The questions: those that wait, those that were settled, and the answering."""

import re
from collections.abc import Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sayso.approvals import Answer, Approval, patched
from sayso.console.api.document import read_answer
from sayso.console.api.door import Door
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


class ApprovalShelf:
    """Lists questions, tells of one, and takes answers. `base` is where the console is."""

    def __init__(self, guard: Guard, door: Door, base: str) -> None:
        self._guard = guard
        self._door = door
        self._base = base

    async def all(self, request: Request) -> Response:
        """A page of questions: those that wait, oldest first, or the newest that do not."""
        session = (await self._door.enter(request)).within(Role.VIEWER)
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
        told = [self.shape(approval, session) for approval in page]
        return JSONResponse({"approvals": told, "next_cursor": cursor})

    async def one(self, request: Request) -> Response:
        """One question, whatever became of it."""
        session = (await self._door.enter(request)).within(Role.VIEWER)
        return await self._told(await self._asked(request), session)

    async def answer(self, request: Request) -> Response:
        """Answer one question, once; whoever comes second is told so."""
        session = (await self._door.enter(request)).within(Role.APPROVER)
        body = await read_answer(request)
        approval = await self._asked(request)
        try:
            given = _answer(body, approval, person_of(session))
            await check_given(self._guard, given, approval)
            has_won = await self._guard.approvals.answer(approval.number, given)
        except UsageError as error:
            raise ProblemError(403, "barred", _sentence(error, session.person)) from None
        now = await self._guard.approvals.find(approval.number)
        if not has_won or now is None:
            why = why_not(body.get("seen", ""), now)
            raise ProblemError(409, _CODES[why], why)
        return await self._told(now, session)

    def shape(self, approval: Approval, session: Session) -> dict[str, Any]:
        """A question as this person may see it."""
        return approval_shape(approval, session, self._guard.policy(), base=self._base)

    async def _told(self, approval: Approval, session: Session) -> Response:
        answers = await self._guard.approvals.answers(approval.number)
        policy = self._guard.policy()
        return JSONResponse(
            approval_shape(approval, session, policy, base=self._base, answers=answers)
        )

    async def _asked(self, request: Request) -> Approval:
        number = number_in(request.path_params["number"])
        if number is not None and (found := await self._guard.approvals.find(number)):
            return found
        raise ProblemError(404, "absent", "There is no such question.")


def _answer(body: Mapping[str, Any], approval: Approval, person: Person) -> Answer:
    """What a checked body says. Raises `UsageError` for an edit that changes nothing."""
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
    found = difference(before, patched(before, edit))
    if not found:
        raise UsageError("nothing was changed", fix="Change an argument, or allow the call as is.")
    if found == approval.edit:
        return None
    return found


def _state(request: Request) -> str:
    state = request.query_params.get("state", "pending")
    if state not in _STATES:
        raise ProblemError(400, "parameter", "“state” is either pending or settled.")
    return state


def _limit(request: Request) -> int:
    said = request.query_params.get("limit", "50")
    if not re.fullmatch(r"[1-9][0-9]{0,2}", said, re.ASCII) or int(said) > _MOST:
        raise ProblemError(400, "parameter", f"“limit” is a number from 1 to {_MOST}.")
    return int(said)


def _cursor(request: Request) -> int | None:
    said = request.query_params.get("cursor")
    if said is not None and number_in(said) is None:
        raise ProblemError(400, "parameter", "“cursor” is what “next_cursor” said before.")
    return number_in(said or "")


def _sentence(error: UsageError, name: str) -> str:
    """What is wrong as a sentence; a name at its beginning stays as it is written."""
    what = error.what
    if not what.startswith(name):
        what = f"{what[:1].upper()}{what[1:]}"
    return f"{what.rstrip('.')}. {error.fix or 'Nothing was changed by it.'}"
