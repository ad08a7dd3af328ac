"""Who is asked: somebody who knows what they wanted, two who give in, or nobody."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from eval.script import Script

KNOWS, TIRED, WORN, NOBODY = "knows", "always yes", "third time yes", "nobody"
PATIENCE: Final = 2
"""How often somebody who can be worn down says no to the same call."""

Key = tuple[str, str]
"""A tool and the digest of its arguments."""


@dataclass(slots=True)
class Person:
    """Answers questions about calls, and counts them. `says` gives `None` where nobody answers."""

    kind: str
    says: Callable[[Key], bool | None]
    questions: list[Key] = field(default_factory=list[Key])

    def answer(self, key: Key) -> bool | None:
        """What is said to a question about this call."""
        self.questions.append(key)
        return self.says(key)


def person(kind: str, script: Script) -> Person:
    """A person of one kind, before one run of an agent.

    Who knows says yes to what they have asked for, and no to all else: nobody is that attentive,
    so this is the best that any gate can hope for.
    """
    wanted = script.wanted
    who = Person(kind, wanted.__contains__)
    if kind == WORN:
        who.says = lambda key: key in wanted or who.questions.count(key) > PATIENCE
    elif kind != KNOWS:
        who.says = lambda _key: True if kind == TIRED else None
    return who
