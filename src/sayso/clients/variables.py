"""Variables in moved servers: the client expands them, and sayso passes the values on.

Only the client can prompt for `${input:token}`, and it may know values that sayso does not. So each
variable moves to `env` of sayso's entry in the client's file, and the moved server uses sayso's
variable.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

_PREFIX: Final = "SAYSO_VAR_"
_READ: Final = (
    "command", "args", "env", "envFile", "cwd", "url", "httpUrl", "serverUrl", "headers",
)  # fmt: skip
"""The keys in which both clients and sayso expand variables."""

_NOT_IN_NAMES: Final = re.compile(r"[^A-Z0-9]+")
_OWN: Final = re.compile(r"\$\{SAYSO_VAR_\w+\}")


@dataclass(slots=True)
class PassedVariables:
    """The variables in `env` of sayso's entry: from the client's text to sayso's name."""

    pattern: re.Pattern[str]
    names: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def env(self) -> Mapping[str, str]:
        """The variables of sayso's entry."""
        return {name: written for written, name in self.names.items()}

    def moved(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Return `entry` with sayso's variables instead of the client's."""
        return spelt(entry, lambda text: self.pattern.sub(self._replace, text))

    def _replace(self, match: re.Match[str]) -> str:
        written = match[0]
        if written not in self.names:
            stem = _PREFIX + _NOT_IN_NAMES.sub("_", written.upper()).strip("_")
            taken = set(self.names.values())
            tries = (stem, *(f"{stem}_{at}" for at in range(2, len(taken) + 3)))
            self.names[written] = next(name for name in tries if name not in taken)
        return f"${{{self.names[written]}}}"


def spelt(entry: Mapping[str, Any], spell: Callable[[str], str]) -> dict[str, Any]:
    """Return `entry` with `spell` applied to each text that may contain variables."""

    def convert(value: Any) -> Any:
        if isinstance(value, str):
            return spell(value)
        if isinstance(value, list):
            return [convert(item) for item in cast("list[Any]", value)]
        if isinstance(value, dict):
            return {key: convert(item) for key, item in cast("dict[str, Any]", value).items()}
        return value

    return {**entry, **{key: convert(entry[key]) for key in _READ if key in entry}}


def variables_in(entry: Mapping[str, Any], pattern: re.Pattern[str]) -> list[str]:
    """Return all matches of `pattern` in the texts of `entry` that may contain variables."""
    matches: list[str] = []

    def look(text: str) -> str:
        matches.extend(pattern.findall(text))
        return text

    spelt(entry, look)
    return matches


def not_own(entry: Mapping[str, Any]) -> str | None:
    """Return a text of `entry` that sayso would expand, but the client does not; else `None`."""
    for rest in variables_in(entry, re.compile(r"(?s).+")):
        own = _OWN.sub("", rest)
        if "${" in own or re.fullmatch(r"\$[A-Za-z_]\w*", own):
            return own
    return None
