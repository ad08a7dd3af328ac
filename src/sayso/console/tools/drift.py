"""The page on which people accept changes of tools, and lift quarantines."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sayso.catalog import Change, definition_of
from sayso.console.entry.login import Session
from sayso.console.entry.roles import Role
from sayso.console.home import HOME
from sayso.console.pages import Pages
from sayso.console.text import as_json
from sayso.console.words import HINTS, SOURCES
from sayso.gateway import Held, accept, evidence_of, held_changes, lift
from sayso.store import QuarantineRow


def drift_routes(pages: Pages) -> list[Route]:
    """Return the routes of the list, of accepting a change and of lifting a quarantine."""
    guard = pages.gateway.guard
    store = pages.gateway.store

    async def show(request: Request, session: Session) -> Response:
        return await pages.page(
            "tools/changes.html",
            session,
            here="tools",
            held=await held_changes(store.definitions),
            before_after=before_after,
            in_words=in_words,
            quarantined=await store.quarantines.all(),
            evidence_of=evidence_of,
            told=request.query_params.get("told", ""),
        )

    async def take(_: Request, session: Session, form: dict[str, str]) -> Response:
        matches = [change for change in await held_changes(store.definitions) if _is(change, form)]
        result = "late"
        if matches and await accept(guard.audit, store.definitions, matches[0], by=session.person):
            result = "accepted"
        return RedirectResponse(f"{HOME}/changes?told={result}", 303)

    async def free(_: Request, session: Session, form: dict[str, str]) -> Response:
        matches = [row for row in await store.quarantines.all() if _is_row(row, form)]
        result = "gone"
        if matches and await lift(guard.audit, store.quarantines, matches[0], by=session.person):
            result = "lifted"
        return RedirectResponse(f"{HOME}/changes?told={result}", 303)

    # Only for admins, because accepting and lifting permit every caller more.
    return [
        Route("/changes", pages.shown(show)),
        Route("/changes/accept", pages.posted(take, Role.ADMIN), methods=["POST"]),
        Route("/changes/lift", pages.posted(free, Role.ADMIN), methods=["POST"]),
    ]


def before_after(held: Held) -> list[tuple[str, str, str]]:
    """Return the changed parts of a definition: name, before and after."""
    was = definition_of(held.known)
    now = definition_of(held.now)
    names = [name for name in {**was, **now} if was.get(name) != now.get(name)]
    return [(name, _text(was, name), _text(now, name)) for name in names]


def in_words(held: Held, change: Change) -> str:
    """Describe a change for people who do not know hints."""
    if change.hint is None:
        return change.what
    hint = HINTS[change.hint]
    now = held.now.resolved[change.hint]
    before = held.known.resolved[change.hint].value
    after = now.value
    if before is after:
        old, new = (tool.intent.hints[change.hint] for tool in (held.known, held.now))
        return f"{hint.name}: the server declared {_answer(old)}, and now declares {_answer(new)}."
    meaning = hint.yes if after else hint.no
    source = SOURCES[now.source]
    return f"{hint.name}: was {_answer(before)}, would be {_answer(after)}, {source}. {meaning}"


def _answer(value: bool | None) -> str:  # noqa: FBT001 - the boolean is a hint's value
    return {True: "yes", False: "no", None: "nothing"}[value]


def _text(parts: Mapping[str, Any], name: str) -> str:
    value = parts.get(name, "")
    return value if isinstance(value, str) else as_json(value, 2)


def _is(held: Held, form: Mapping[str, str]) -> bool:
    return form.get("place") == held.row.place and form.get("mark") == held.row.held_mark


def _is_row(row: QuarantineRow, form: Mapping[str, str]) -> bool:
    identity = (row.place, row.tool, str(row.since))
    return identity == (form.get("place"), form.get("tool"), form.get("since"))
