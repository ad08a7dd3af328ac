"""An entry of a client's configuration, which reports each fault with its place."""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from sayso.connect.variables import Scope, VariableError
from sayso.errors import ConfigError
from sayso.settings import JsonFile, Step, type_name

UNDERSTOOD: Final = tuple(
    """
    args sayso command cwd disabled enabled env envFile headers httpUrl serverUrl transport
    transportType type url
    """.split()
)
"""`httpUrl` is from Gemini CLI, `serverUrl` from Windsurf. `transport` and `transportType` are
older names of `type`. `sayso` contains settings that only sayso reads."""

_OF_CLIENTS: Final = tuple(
    """
    allowedTools alwaysAllow alwaysLoad auth authProviderType autoApprove description dev
    disabledTools excludeTools extensionName gallery icon icons id includeTools initTimeout
    metadata name networkTimeout oauth oauthClientId oauthPublicClient oauthScopes registry
    remoteConfigured sandbox sandboxEnabled source startupTimeout tags targetAudience
    targetServiceAccount timeout toolTimeout tools trust version watchPaths
    """.split()
)
"""Keys for the client itself, such as its permissions, timeouts and icons."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry; `steps` are the keys that lead to it in `file`, and end with its name."""

    file: JsonFile
    steps: tuple[str, ...]
    fields: Mapping[str, Any]
    scope: Scope

    @classmethod
    def at(cls, file: JsonFile, steps: tuple[str, ...], scope: Scope) -> "Entry":
        """Return the entry at `steps`. Checks its keys, but not yet its values."""
        value = file.value
        for step in steps:
            value = value[step]
        entry = cls(file, steps, value, scope)
        if not isinstance(value, dict):
            fix = 'Write it as {"command": …, "args": […]} or {"url": …}.'
            raise entry.fault(f"must be an object, not {type_name(value)}", fix=fix)
        for key in entry.fields:
            entry.check_key(key)
        return entry

    @property
    def is_disabled(self) -> bool:
        return bool(self.flag("disabled")) or self.flag("enabled") is False

    def fault(
        self, what: str, *steps: Step, fix: str | None = None, of_key: bool = False
    ) -> ConfigError:
        """Return an error about the entry, or about its part at `steps`."""
        inside = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
        place = self.file.where(*self.steps, *steps, of_key=of_key)
        return ConfigError(f"{self.steps[-1]}{inside}: {what}", where=place, fix=fix)

    def check_key(self, key: str) -> None:
        """Raise `ConfigError` unless sayso or a known client understands the key."""
        if key == "headersHelper":
            fix = "Write the headers under “headers” instead, with ${NAME} for secrets."
            raise self.fault("sayso does not run header programs", key, fix=fix, of_key=True)
        if key in UNDERSTOOD or key in _OF_CLIENTS:
            return
        fix = f"Known: {', '.join(UNDERSTOOD)}."
        if near := nearest(key, (*UNDERSTOOD, *_OF_CLIENTS)):
            fix = f"Did you mean “{near}”? {fix}"
        raise self.fault("unknown key", key, fix=fix, of_key=True)

    def flag(self, key: str) -> bool | None:
        value = self.fields.get(key)
        if value is None or isinstance(value, bool):
            return value
        raise self.fault(f"must be true or false, not {type_name(value)}", key)

    def text(self, key: str) -> str | None:
        """Return a string with its variables expanded, or `None` if the key is missing."""
        value = self.fields.get(key)
        if value is None:
            return None
        return self._expand(value, key)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return an array of strings with variables expanded; empty if the key is missing."""
        value = self.fields.get(key)
        if value is None:
            return ()
        if not isinstance(value, list):
            fix = 'Write it as ["first", "second"].'
            raise self.fault(f"must be an array of strings, not {type_name(value)}", key, fix=fix)
        items = cast("list[object]", value)
        return tuple(self._expand(item, key, index) for index, item in enumerate(items))

    def pairs(self, key: str, *, names: re.Pattern[str]) -> dict[str, str]:
        """Return an object of strings with variables expanded; its keys must match `names`.

        A whole number becomes a string; a null value is left out.
        """
        value = self.fields.get(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            fix = 'Write it as {"NAME": "value"}.'
            raise self.fault(f"must be an object of strings, not {type_name(value)}", key, fix=fix)
        found: dict[str, str] = {}
        for name, item in cast("dict[str, object]", value).items():
            if not names.fullmatch(name):
                raise self.fault("is not a valid name", key, name, of_key=True)
            if type(item) is int:
                found[name] = str(item)
            elif item is not None:
                found[name] = self._expand(item, key, name)
        return found

    def folder(self, key: str) -> str | None:
        """Return a path; a relative one starts at the configuration's workspace folder."""
        text = self.text(key)
        if text is None:
            return None
        return str(self.scope.workspace / text)

    def path(self, value: object, *steps: Step) -> str:
        text = self._expand(value, *steps)
        if not text.strip():
            raise self.fault("must be a path", *steps)
        return str(self.scope.workspace / Path(text).expanduser())

    def _expand(self, value: object, *steps: Step) -> str:
        if not isinstance(value, str):
            raise self.fault(f"must be a string, not {type_name(value)}", *steps)
        if "\0" in value:
            raise self.fault("holds a NUL character", *steps)
        is_pair = len(steps) > 1 and isinstance(steps[1], str)
        try:
            return self.scope.expand(value, may_be_bare=is_pair)
        except VariableError as error:
            raise self.fault(error.what, *steps, fix=error.fix) from error


def nearest(word: str, words: tuple[str, ...]) -> str | None:
    """Return the word in `words` that is most similar to `word`, ignoring case."""
    by_lower = {known.lower(): known for known in reversed(words)}
    near = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.7)
    return next(map(by_lower.get, near), None)
