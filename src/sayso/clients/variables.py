"""Variables in servers that move: the client still puts the values in, and sayso passes them on.

Only the client can ask for `${input:token}`, and it may know values that sayso's process does not.
So each variable stays in the client's file, under `env` of sayso's own entry; what moves reads the
value from there.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

_PREFIX: Final = "SAYSO_VAR_"
_READ: Final = (
    "command",
    "args",
    "env",
    "envFile",
    "cwd",
    "url",
    "httpUrl",
    "serverUrl",
    "headers",
)
"""The keys in which both clients and sayso put values in the place of variables."""

_NOT_IN_NAMES: Final = re.compile(r"[^A-Z0-9]+")
_OWN: Final = re.compile(r"\$\{SAYSO_VAR_\w+\}")


@dataclass(slots=True)
class Passed:
    """What sayso's entry passes on: the name of each variable of sayso's, by the client's."""

    pattern: re.Pattern[str]
    names: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def env(self) -> Mapping[str, str]:
        """The variables of sayso's entry."""
        return {name: written for written, name in self.names.items()}

    def moved(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """`entry` with sayso's variables in the place of the client's."""
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
    """Return `entry` with `spell` applied to each text that may hold variables."""

    def anew(value: Any) -> Any:
        if isinstance(value, str):
            return spell(value)
        if isinstance(value, list):
            return [anew(item) for item in cast("list[Any]", value)]
        if isinstance(value, dict):
            return {key: anew(item) for key, item in cast("dict[str, Any]", value).items()}
        return value

    return {**entry, **{key: anew(entry[key]) for key in _READ if key in entry}}


def variables_in(entry: Mapping[str, Any], pattern: re.Pattern[str]) -> list[str]:
    """All that `pattern` finds in the texts of `entry` that may hold variables."""
    found: list[str] = []

    def look(text: str) -> str:
        found.extend(pattern.findall(text))
        return text

    spelt(entry, look)
    return found


def not_own(entry: Mapping[str, Any]) -> str | None:
    """A text of `entry` in which sayso would see a variable where the client saw none."""
    found: list[str] = []

    def look(text: str) -> str:
        rest = _OWN.sub("", text)
        if "${" in rest or re.fullmatch(r"\$[A-Za-z_]\w*", rest):
            found.append(rest)
        return text

    spelt(entry, look)
    return next(iter(found), None)
