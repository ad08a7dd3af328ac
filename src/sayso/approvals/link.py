"""Signed links. A link's holder may answer one question, as one person, until the link expires."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from sayso.approvals.answer import Strength
from sayso.approvals.ledger import Approvals
from sayso.approvals.posting import POST_SECONDS, Post, PostLimits, without_markup
from sayso.approvals.question import Approval, Question
from sayso.approvals.sentence import ask, tell
from sayso.errors import SaysoError, SealError
from sayso.keys import Keyring

_log: Final = logging.getLogger(__name__)

_PURPOSE: Final = "link"
_ANYONE: Final = "link"
_POST_TRIES: Final = 3

People = Mapping[str, frozenset[str]]
"""The people who may answer by a link, with their roles."""


@dataclass(frozen=True, slots=True)
class LinkHolder:
    """The content of a link: its question's number, and the person as whom the holder answers."""

    number: int
    person: str
    roles: frozenset[str]


def make_token(keys: Keyring, approval: Approval, person: str, roles: frozenset[str]) -> str:
    """Return the sealed token of a link, with which `person` can answer a question."""
    value = {
        "number": approval.number,
        "binding": approval.question.binding,
        "person": person,
        "roles": sorted(roles),
        "expires": approval.expires,
    }
    return keys.seal(_PURPOSE, value)


async def read_token(
    keys: Keyring, token: str, approvals: Approvals
) -> tuple[LinkHolder, Approval]:
    """Return a link's holder and question. Raises `SealError` if the link is invalid or expired."""
    value: dict[str, Any] = keys.open(_PURPOSE, token)
    approval = await approvals.find(value["number"])
    is_same = approval is not None and approval.question.binding == value["binding"]
    if approval is None or not is_same or approvals.clock() >= value["expires"]:
        raise SealError("this link is invalid or has expired")
    return LinkHolder(approval.number, value["person"], frozenset(value["roles"])), approval


@dataclass(frozen=True, slots=True)
class LinkChannel:
    """Posts each question once, with a link for each person who may answer it.

    A link is `base` and a token. If `people` returns nobody, there is one link, and its holder
    answers under the name `link`.
    """

    keys: Keyring
    base: str
    post: Post
    people: Callable[[], People]
    name: str = "link"
    strength: Strength = Strength.OUT_OF_BAND
    limits: PostLimits = field(default_factory=PostLimits, repr=False)
    _posting: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]], repr=False)

    async def offer(self, approvals: Approvals, approval: Approval) -> None:
        """Post the question in a separate task, which continues if this one is cancelled.

        A post that fails 3 times is logged.
        """
        token = f"link {approval.number}"
        if await approvals.tokens.spend(token, now=approvals.clock(), expires=approval.expires):
            if not self.limits.admits(approval.question.account):
                _log.warning(
                    "approval %s was not posted: its caller has reached the limit on posts",
                    approval.number,
                )
                return
            task = asyncio.create_task(self._post(approval))
            self._posting.add(task)
            task.add_done_callback(self._posting.discard)

    async def _post(self, approval: Approval) -> None:
        import stamina  # noqa: PLC0415 - slow import, and few servers post links

        try:
            message = self._message(approval)
            async for attempt in stamina.retry_context(on=Exception, attempts=_POST_TRIES):
                async with self.limits.slot(approval.question.account):
                    with attempt, anyio.fail_after(POST_SECONDS):
                        await self.post(message)
        except Exception as error:  # noqa: BLE001 - a transport may raise anything
            # The text of other errors may contain the address, which is a secret.
            why = error.what if isinstance(error, SaysoError) else type(error).__name__
            _log.warning("approval %s could not be posted: %s", approval.number, why)

    def _message(self, approval: Approval) -> dict[str, Any]:
        """Return the message: `text` for chats, other fields for programs; secrets are masked."""
        question = approval.question
        lines = [without_markup(line) for line in tell(question)]
        links: list[dict[str, str]] = []
        for person, roles in self._answerers(question).items():
            url = f"{self.base}{make_token(self.keys, approval, person, roles)}"
            links.append({"person": person, "url": url})
            lines.append(url if person == _ANYONE else f"{without_markup(person)}: {url}")
        message = {
            "text": "\n".join(lines),
            "approval": approval.number,
            "question": without_markup(ask(question)),
            "level": question.level,
            "server": question.server,
            "tool": question.tool,
            "arguments": question.arguments,
            "expires": approval.expires,
            "links": links,
        }
        if question.extras:
            message["extras"] = question.extras
        return message

    def _answerers(self, question: Question) -> People:
        people = self.people() or {_ANYONE: frozenset[str]()}
        named = question.reviewers or {}
        subjects = named.get("subjects") or ()
        roles = named.get("roles") or ()
        return {
            person: held_roles
            for person, held_roles in people.items()
            if person != question.subject
            and (not (subjects or roles) or person in subjects or not held_roles.isdisjoint(roles))
        }
