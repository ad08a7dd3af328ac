"""Somebody who answers questions by a script, and remembers what was asked."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final

from sayso.approvals import Answer, Approval, Approvals, Question, Strength
from sayso.errors import SaysoError, UsageError

WHO: Final = "approver"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the script; without `tools` it is for all, and `None` is silence."""

    tools: frozenset[str]
    is_allowed: bool | None
    by: tuple[str, ...] = (WHO,)
    roles: frozenset[str] = frozenset()
    message: str | None = None


@dataclass(slots=True)
class Approver:
    """A person in a test. The last line that fits a question counts; without one, silence.

    `asked` holds every question that was seen, in order. Policy knows it as the channel `program`.

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
        """Say yes to calls of these tools, or of any. `by` are all who say it, one by one."""
        people = (by,) if isinstance(by, str) else tuple(by)
        return self._add(Line(frozenset(tools), True, people, frozenset(roles)))  # noqa: FBT003 - a yes

    def deny(self, *tools: str, by: str = WHO, message: str | None = None) -> "Approver":
        """Say no to calls of these tools, or of any; the agent gets the `message`."""
        return self._add(Line(frozenset(tools), False, (by,), message=message))  # noqa: FBT003 - a no

    def silent(self, *tools: str) -> "Approver":
        """Say nothing when these tools are called, or any: the call waits in vain."""
        return self._add(Line(frozenset(tools), None))

    async def offer(self, approvals: Approvals, approval: Approval) -> None:
        """See `sayso.approvals.Channel.offer`."""
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
        """Raise `UsageError` where an answer did not count, or a name was probably misspelt."""
        if self._problems:
            raise UsageError("; ".join(self._problems), where="approver")

    def _add(self, line: Line) -> "Approver":
        self._lines.append(line)
        return self

    def _line(self, tool: str) -> Line | None:
        fits = [line for line in self._lines if not line.tools or tool in line.tools]
        if fits:
            return fits[-1]
        named = sorted({name for line in self._lines for name in line.tools})
        if close := get_close_matches(tool, named, n=1):
            what = f"{tool} asked, and the script speaks of {close[0]!r} only"
            self._problems.append(f"{what}: did you mean {tool!r}?")
        return None
