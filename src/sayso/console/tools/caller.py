"""As whom a person calls who tries a tool from the console."""

from typing import Final

from sayso.console.entry.login import PERSON, Session
from sayso.gateway import CONSOLE
from sayso.policy import LOCAL, Principal

_NO_SCOPES: Final[frozenset[str]] = frozenset()


def caller_of(session: Session, *, is_alone: bool) -> Principal:
    """The principal of a session.

    On a machine of one person that is whoever uses the machine, as of any client there, and the
    question goes to the person at the console: there is nobody else. Where callers prove who they
    are it is that person, so nobody answers for themselves; they hold no scope and no role.
    """
    if is_alone and session.person == PERSON:
        return Principal(LOCAL, client=CONSOLE)
    return Principal(session.person, client=CONSOLE, scopes=_NO_SCOPES)
