"""Who is asked: somebody who knows what they wanted, somebody who is tired, or nobody."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from eval.script import Script

KNOWS, TIRED, NOBODY = "knows", "always yes", "nobody"
PEOPLE: Final = (KNOWS, TIRED, NOBODY)

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
    if kind == KNOWS:
        return Person(kind, wanted.__contains__)
    return Person(kind, lambda _key: True if kind == TIRED else None)
