"""The filter of the audit page: a form whose fields are its address, and what they mean."""

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
    """The fields as they were filled in, and what of them could not be read."""

    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    mistakes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> str:
        """One field; empty where nothing was filled in."""
        return self.fields.get(name, "")

    @classmethod
    def read(cls, params: Mapping[str, str]) -> Self:
        """The form that an address holds. What cannot be meant is left out, and said."""
        known = (*_TEXTS, *CHOICES, *_TIMES, ATTENTION)
        said = {name: params[name].strip()[:_LONGEST] for name in known if params.get(name)}
        fields = {name: value for name, value in said.items() if _is_sound(name, value)}
        wrong = [f"{name} “{said[name]}”" for name in said if name not in fields]
        shown = {name: value for name, value in fields.items() if value}
        if wrong:
            return cls(shown, (f"Not understood, and left out: {', '.join(wrong)}.",))
        return cls(shown)

    @property
    def filter(self) -> Filter:
        """What is wanted."""
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
        """The address of this form's page, from its question mark on; empty for an empty form."""
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
    """What can be chosen for each field, with its name for people."""
    return {
        field_name: [(value, names(field_name, value)) for value in values]
        for field_name, values in CHOICES.items()
    }
