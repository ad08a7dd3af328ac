"""Handlers of the forms that answer a question or cancel its call."""

from collections.abc import Awaitable, Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from sayso.approvals import Answer, Approval, ApprovalState, check_answer
from sayso.console.approvals.answering import Person, answer_of, digest_of, person_of
from sayso.console.approvals.editing import misfits
from sayso.console.approvals.view import tool_of
from sayso.console.entry.login import Session
from sayso.console.home import HOME
from sayso.console.pages import Pages
from sayso.errors import UsageError
from sayso.gateway import ClusterCalls
from sayso.guard import Guard

_BAD_REQUEST: Final = 400
_FORBIDDEN: Final = 403
_CONFLICT: Final = 409
_NO_CONTENT: Final = 204

NEITHER: Final = "The form has no answer. Press Deny or Allow."
MISSED: Final = "The question was already answered, so your answer changed nothing."
CHANGED: Final = "Another reviewer has changed the arguments. Review them, and answer again."
TWICE: Final = "You have already answered. Another person must allow it too."


async def read_answer(
    guard: Guard, form: dict[str, str], approval: Approval, person: Person
) -> Answer | None:
    """Return a form's answer; `None` if it has none. Raises `UsageError` as `check_given` does."""
    answer = answer_of(form, approval, person)
    if answer is not None:
        await check_given(guard, answer, approval)
    return answer


async def check_given(guard: Guard, answer: Answer, approval: Approval) -> None:
    """Raise `UsageError` if this person may not give this answer, or its edit breaks the schema."""
    check_answer(answer, approval)
    if answer.edit is not None and (tool := await tool_of(guard, approval)):
        checker = guard.schemas.of(tool).arguments
        if wrong := await misfits(checker, approval.question.arguments, answer.edit, answer.by):
            raise UsageError(f"the change does not match the tool's schema: {'; '.join(wrong)}")


def why_not(seen: str, now: Approval | None) -> str:
    """Return why an answer did not count. `seen` is the digest of the edit that its form showed."""
    if now is None or now.state is not ApprovalState.PENDING:
        return MISSED
    if seen != digest_of(now.edit):
        return CHANGED
    return TWICE


def _is_htmx(request: Request) -> bool:
    return request.headers.get("hx-request") == "true"


class Actions:
    """Handlers that answer a question and cancel its call. `find` returns a request's question."""

    def __init__(
        self, pages: Pages, find: Callable[[Request], Awaitable[Approval]], runs: ClusterCalls
    ) -> None:
        self._pages = pages
        self._guard = pages.gateway.guard
        self._find = find
        self._runs = runs

    async def answer(self, request: Request, session: Session, form: dict[str, str]) -> Response:
        approval = await self._find(request)
        try:
            answer = await read_answer(self._guard, form, approval, person_of(session))
            if answer is None:
                return self._refused(request, _BAD_REQUEST, NEITHER)
            has_counted = await self._guard.approvals.answer(approval.number, answer)
        except UsageError as error:
            return self._refused(request, _FORBIDDEN, error.what, error.fix)
        if has_counted:
            return self._done(request, f"{HOME}/?answered={approval.number}")
        now = await self._guard.approvals.find(approval.number)
        why = why_not(form.get("seen", ""), now)
        if _is_htmx(request) or why is not MISSED:
            return self._refused(request, _CONFLICT, why)
        return RedirectResponse(f"{HOME}/?late={approval.number}", 303)

    async def stop(self, request: Request, session: Session, _: dict[str, str]) -> Response:
        approval = await self._find(request)
        call = approval.used_by
        if call is None or not await self._runs.stop(call, by=session.person):
            return self._refused(request, _CONFLICT, "This call is no longer running.")
        return self._done(request, f"{HOME}/approvals/{approval.number}")

    def _done(self, request: Request, where: str) -> Response:
        if _is_htmx(request):
            return Response(status_code=_NO_CONTENT)
        return RedirectResponse(where, 303)

    def _refused(
        self, request: Request, status: int, what: str, fix: str | None = None
    ) -> Response:
        what = f"{what[:1].upper()}{what[1:]}"
        advice = fix or "Nothing was changed."
        if _is_htmx(request):
            return PlainTextResponse(f"{what.rstrip('.')}. {advice}", status)
        return self._pages.problem(status, what, advice)
