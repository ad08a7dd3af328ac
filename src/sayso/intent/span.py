"""How long a person's answer holds."""

from enum import StrEnum


class Span(StrEnum):
    """For one call, for the conversation that goes on, or until it is taken back."""

    ONCE = "once"
    SESSION = "session"
    ALWAYS = "always"

    @property
    def rank(self) -> int:
        """Its place, the shortest first."""
        return list(Span).index(self)


def shortest(*spans: Span | None) -> Span | None:
    """The shortest of those that are set.

    >>> shortest(Span.ALWAYS, None, Span.SESSION)
    <Span.SESSION: 'session'>
    """
    return min((one for one in spans if one is not None), key=lambda one: one.rank, default=None)
