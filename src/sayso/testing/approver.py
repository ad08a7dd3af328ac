"""A scripted approver, which records the questions that it gets."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final

from sayso.approvals import Answer, Approval, Approvals, Question, Strength
from sayso.errors import SaysoError, UsageError

WHO: Final = "approver"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the script, for all tools if `tools` is empty; `None` means no answer."""

    tools: frozenset[str]
    is_allowed: bool | None
    by: tuple[str, ...] = (WHO,)
    roles: frozenset[str] = frozenset()
    message: str | None = None


@dataclass(slots=True)
class Approver:
    """A scripted person. The last matching line answers a question; without one, no answer.

    `asked` holds all questions in order. In a policy, it is the channel `program`.

    >>> approver = Approver().deny().allow("customer_delete", by="ben")
    >>> approver.asked
    []
    """

    asked: list[Question] = field(default_factory=list[Question])
    name: str = "program"
    strength: Strength = Strength.OUT_OF_BAND
    _lines: list[Line] = field(default_factory=list[Line])
    _seen: set[tuple[int, str]] = field(default_factory=set[tuple[int, str]])
    _problems: list[str] = field(default_factory=list[str])

    def allow(
        self, *tools: str, by: str | Iterable[str] = WHO, roles: Iterable[str] = ()
    ) -> "Approver":
        """Approve calls of these tools, or of all; `by` are the people who answer in turn."""
        people = (by,) if isinstance(by, str) else tuple(by)
        return self._add(Line(frozenset(tools), True, people, frozenset(roles)))  # noqa: FBT003 - a yes

    def deny(self, *tools: str, by: str = WHO, message: str | None = None) -> "Approver":
        """Deny calls of these tools, or of all; the agent gets the `message`."""
        return self._add(Line(frozenset(tools), False, (by,), message=message))  # noqa: FBT003 - a no

    def silent(self, *tools: str) -> "Approver":
        """Do not answer calls of these tools, or of all, so that they time out."""
        return self._add(Line(frozenset(tools), None))

    async def offer(self, approvals: Approvals, approval: Approval) -> None:
        """Answer a question by the script, as `sayso.approvals.Channel.offer` requires."""
        question = approval.question
        if (approval.number, question.binding) not in self._seen:
            self._seen.add((approval.number, question.binding))
            self.asked.append(question)
        line = self._line(question.tool)
        if line is None or line.is_allowed is None:
            return
        for person in line.by:
            answer = Answer(
                is_allowed=line.is_allowed,
                by=person,
                channel=self.name,
                roles=line.roles,
                message=line.message,
            )
            try:
                await approvals.answer(approval.number, answer)
            except SaysoError as error:
                self._problems.append(str(error))

    def check(self) -> None:
        """Raise `UsageError` if an answer was rejected, or a tool's name looks misspelt."""
        if self._problems:
            raise UsageError("; ".join(self._problems), where="approver")

    def _add(self, line: Line) -> "Approver":
        self._lines.append(line)
        return self

    def _line(self, tool: str) -> Line | None:
        matches = [line for line in self._lines if not line.tools or tool in line.tools]
        if matches:
            return matches[-1]
        named = sorted({name for line in self._lines for name in line.tools})
        if close := get_close_matches(tool, named, n=1):
            what = f"the script has no line for {tool!r}, only for {close[0]!r}"
            self._problems.append(f"{what}: did you mean {tool!r}?")
        return None
