"""The filter form of the audit page, whose fields are in the URL's query."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Self
from urllib.parse import urlencode

from sayso.audit import Filter, Outcome
from sayso.intent import Level
from sayso.policy import Effect

SEVERITIES: Final = ("info", "notice", "warning", "error", "critical")
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "level": tuple(map(str, Level)),
    "decision": (str(Effect.ALLOW), str(Effect.CONFIRM), str(Effect.DENY)),
    "outcome": tuple(map(str, Outcome)),
    "severity": SEVERITIES,
}
_TEXTS: Final = ("text", "server", "tool", "who", "client")
_TIMES: Final = ("since", "until")
ATTENTION: Final = "attention"
_LONGEST: Final = 256


@dataclass(frozen=True, slots=True)
class Form:
    """The form's valid fields, and the mistakes in the other fields."""

    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    mistakes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> str:
        return self.fields.get(name, "")

    @classmethod
    def read(cls, params: Mapping[str, str]) -> Self:
        known = (*_TEXTS, *CHOICES, *_TIMES, ATTENTION)
        entries = {name: params[name].strip()[:_LONGEST] for name in known if params.get(name)}
        fields = {name: value for name, value in entries.items() if _is_sound(name, value)}
        wrong = [f"{name} “{entries[name]}”" for name in entries if name not in fields]
        shown = {name: value for name, value in fields.items() if value}
        if wrong:
            return cls(shown, (f"Invalid and ignored: {', '.join(wrong)}.",))
        return cls(shown)

    @property
    def filter(self) -> Filter:
        since, until = (_read_time(self[name]) if self[name] else None for name in _TIMES)
        return Filter(
            text=self["text"],
            server=self["server"],
            tool=self["tool"],
            level=self["level"],
            decision=self["decision"],
            outcome=self["outcome"],
            severity=self["severity"],
            subject=self["who"],
            client=self["client"],
            since=since,
            until=until,
            is_attention=bool(self[ATTENTION]),
        )

    def query(self, **more: Any) -> str:
        fields = {**self.fields, **{name: str(value) for name, value in more.items() if value}}
        return f"?{urlencode(fields)}" if fields else ""


def _is_sound(name: str, value: str) -> bool:
    if name in CHOICES:
        return value in CHOICES[name]
    return name not in _TIMES or _is_time(value)


def _is_time(value: str) -> bool:
    try:
        _read_time(value)
    except (ValueError, OverflowError, OSError):
        return False
    return True


def _read_time(value: str) -> float:
    return datetime.fromisoformat(value).timestamp()


def choices(names: Callable[[str, str], str]) -> dict[str, list[tuple[str, str]]]:
    """Return each field's choices with their names."""
    return {
        field_name: [(value, names(field_name, value)) for value in values]
        for field_name, values in CHOICES.items()
    }
