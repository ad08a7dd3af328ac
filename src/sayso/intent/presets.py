"""`Intent`, an author's declaration of one tool, and presets."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, Final

from sayso.errors import UsageError
from sayso.fields import choice, convert, function, instance, optional, text, texts
from sayso.intent.hints import HINT_NAMES, Hints, Level, default_for, level_of
from sayso.intent.spoken import in_own_words, is_annotations


class Span(StrEnum):
    """The validity of an answer: one call, the conversation, or until it is revoked."""

    ONCE = "once"
    SESSION = "session"
    ALWAYS = "always"

    @property
    def rank(self) -> int:
        return list(Span).index(self)


def shortest(*spans: Span | None) -> Span | None:
    """Return the shortest of the spans that are not `None`, or `None` if all are.

    >>> shortest(Span.ALWAYS, None, Span.SESSION)
    <Span.SESSION: 'session'>
    """
    return min(filter(None, spans), key=lambda span: span.rank, default=None)


@dataclass(frozen=True, slots=True)
class Intent:
    """The declaration of one tool.

    To see the tool, a caller needs all `scopes` and at least one of `roles`. `confirm` is the
    question to a person. `grant` is the longest validity of the answer. Three functions take the
    call's arguments: `plan` returns what the call would change; `narrow` may narrow its intent,
    never widen it; `when` returns whether it is allowed. `otherwise` is the message for a call that
    is not. `dry_run` names the tool's boolean parameter that makes a call only report its change.
    `on_error` is the message for a failure without one.

    >>> from sayso import DELETE
    >>> DELETE.but(idempotent=True, title="Delete customer").hints.idempotent
    True
    """

    hints: Hints = field(default_factory=Hints)
    title: str | None = None
    category: str | None = None
    tags: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    confirm: str | None = None
    grant: Span | None = None
    on_error: str | None = None
    plan: Callable[..., Any] | None = None
    narrow: Callable[..., Any] | None = None
    when: Callable[..., Any] | None = None
    otherwise: str | None = None
    dry_run: str | None = None

    def __post_init__(self) -> None:
        words = optional(text)
        callback = optional(function)
        convert(
            self,
            hints=instance(Hints),
            title=words,
            category=words,
            tags=texts,
            scopes=texts,
            roles=texts,
            confirm=words,
            grant=optional(choice(Span)),
            on_error=words,
            plan=callback,
            narrow=callback,
            when=callback,
            otherwise=words,
            dry_run=words,
        )

    @property
    def level(self) -> Level:
        """The level, with the specification's defaults for unset hints."""
        return level_of(
            read_only=default_for("read_only", self.hints.read_only),
            destructive=default_for("destructive", self.hints.destructive),
        )

    def but(self, **changes: Any) -> "Intent":
        """Return a copy with some hints or other fields changed.

        Also accepts MCP's names: `readOnlyHint`, `read_only_hint`, `annotations`. Raises
        `UsageError` for an unknown name and for a value of the wrong type.
        """
        changes = in_own_words(changes, where="Intent.but")
        hints = {name: changes.pop(name) for name in HINT_NAMES if name in changes}
        known = {field.name for field in fields(self)}
        for name in changes:
            if name not in known:
                allowed = ", ".join([*HINT_NAMES, *sorted(known - {"hints"})])
                what = f"unknown field {name!r}"
                fix = f"Known fields: {allowed}."
                if close := get_close_matches(name, [*HINT_NAMES, *known], n=1):
                    fix = f"Did you mean {close[0]!r}? {fix}"
                raise UsageError(what, where="Intent.but", fix=fix)
        changed = replace(self, **changes)
        return replace(changed, hints=replace(changed.hints, **hints)) if hints else changed


def as_intent(value: object, *, where: str = "intent") -> Intent | None:
    """Return the intent for an `Intent`, `Hints`, annotations or `None`.

    Raises `UsageError` for any other object.

    >>> as_intent({"readOnlyHint": True}).hints.read_only
    True
    """
    if value is None or isinstance(value, Intent):
        return value
    if isinstance(value, Hints):
        return Intent(value)
    if is_annotations(value):
        return Intent().but(**in_own_words({"annotations": value}, where=where))
    what = f"intent must be a sayso.Intent, hints or annotations, not {value!r}"
    raise UsageError(what, where=where)


def _preset(read_only: bool, destructive: bool, idempotent: bool, open_world: bool) -> Intent:  # noqa: FBT001 - one row of the table
    return Intent(Hints(read_only, destructive, idempotent, open_world))


# fmt: off
#                              read_only destructive idempotent open_world
READ_ONLY: Final   = _preset(  True,     False,      True,      False)
FETCH: Final       = _preset(  True,     False,      True,      True)
WRITE: Final       = _preset(  False,    False,      True,      False)
APPEND: Final      = _preset(  False,    False,      False,     False)
DESTRUCTIVE: Final = _preset(  False,    True,       False,     False)
SEND: Final        = _preset(  False,    True,       False,     True)
# fmt: on

QUERY: Final = READ_ONLY
SEARCH: Final = READ_ONLY
UPSERT: Final = WRITE
DELETE: Final = DESTRUCTIVE
DEPLOY: Final = SEND

PRESETS: Final[dict[str, Intent]] = {
    "READ_ONLY": READ_ONLY,
    "FETCH": FETCH,
    "WRITE": WRITE,
    "APPEND": APPEND,
    "DESTRUCTIVE": DESTRUCTIVE,
    "SEND": SEND,
}
"""The presets. `QUERY`, `SEARCH`, `UPSERT`, `DELETE` and `DEPLOY` are other names for them."""
