"""What goes from one process to another: sealed under a key that only they have.

Nobody else can read one, make one, send one to another process than it was for, or send one
again. The answer is bound to what it answers.
"""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from sayso.errors import SealError
from sayso.keys import Keyring

AGE_SECONDS: Final = 60.0
"""How far apart the clocks of two machines may be, with the time that a message takes."""

_ERRAND: Final = "errand"
_REPLY: Final = "errand reply"


@dataclass(frozen=True, slots=True)
class Errand:
    """Something for another process to do; `number` is told of none other."""

    kind: str
    body: Any
    number: str = field(default_factory=lambda: secrets.token_hex(12))


@dataclass(slots=True)
class Envelopes:
    """Seals what goes out, and opens what comes in, for the process `here`."""

    keys: Keyring
    here: str
    clock: Callable[[], float] = time.time
    _seen: dict[str, float] = field(default_factory=dict[str, float])

    def seal(self, errand: Errand, to: str) -> str:
        value = [errand.kind, errand.body, errand.number, self.clock()]
        return self.keys.seal(_ERRAND, value, bound={"to": to})

    def open(self, text: str) -> Errand:
        """An errand that came here. Raises `SealError` for any other text, and the second time."""
        kind, body, number, at = self.keys.open(_ERRAND, text, bound={"to": self.here})
        now = self.clock()
        if abs(now - at) > AGE_SECONDS:
            raise SealError("it is too old, or the clocks of two machines are too far apart")
        self._seen = {known: seen for known, seen in self._seen.items() if seen > now}
        if number in self._seen:
            raise SealError("it was here before")
        # As long as its time could be taken for one of now.
        self._seen[number] = at + 2 * AGE_SECONDS
        return Errand(kind, body, number)

    def seal_reply(self, errand: Errand, value: Any) -> str:
        return self.keys.seal(_REPLY, value, bound={"number": errand.number})

    def open_reply(self, errand: Errand, text: str) -> Any:
        """The answer to this errand. Raises `SealError` for any other text."""
        return self.keys.open(_REPLY, text, bound={"number": errand.number})
