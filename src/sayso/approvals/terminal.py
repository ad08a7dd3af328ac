"""The program's own terminal as a channel."""

import os
import termios
from dataclasses import dataclass, field
from typing import Final, TextIO

import anyio

from sayso.approvals.answer import Answer, Strength
from sayso.approvals.ledger import Approvals
from sayso.approvals.question import Approval
from sayso.approvals.sentence import tell
from sayso.errors import UsageError

_LONGEST: Final = 1024
_WORDS: Final = {"yes": True, "no": False}


@dataclass(slots=True)
class TerminalChannel:
    """Asks on a terminal, one question at a time; only the full words yes and no are answers."""

    reader: TextIO
    writer: TextIO
    person: str = "terminal"
    name: str = "terminal"
    strength: Strength = Strength.OUT_OF_BAND
    _turn: anyio.Lock = field(default_factory=anyio.Lock)

    async def offer(self, approvals: Approvals, approval: Approval) -> None:
        async with self._turn:
            lines = "\n".join(tell(approval.question))
            self._drop_typed()
            self._write(f"\n{lines}\nApproval {approval.number}: yes or no? ")
            try:
                verdict = await self._read()
            except anyio.get_cancelled_exc_class():
                self._write("\n(this question no longer needs an answer)\n")
                raise
            if verdict is None:
                return
            answer = Answer(is_allowed=verdict, by=self.person, channel=self.name)
            try:
                has_counted = await approvals.answer(approval.number, answer)
            except UsageError as error:
                self._write(f"{error}\n")
                return
            if not has_counted:
                self._write("(already answered by someone else)\n")

    def _drop_typed(self) -> None:
        if self.reader.isatty():
            termios.tcflush(self.reader, termios.TCIFLUSH)

    async def _read(self) -> bool | None:
        number = self.reader.fileno()
        while True:
            # Read only when there is input: a read cannot be cancelled and could take a later line.
            await anyio.wait_readable(number)
            data = os.read(number, _LONGEST)
            if not data:
                return None
            word = data.decode(errors="replace").strip().lower()
            if word in _WORDS:
                return _WORDS[word]
            self._write("type yes or no in full: ")

    def _write(self, text: str) -> None:
        self.writer.write(text)
        self.writer.flush()
