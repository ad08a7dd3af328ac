"""Profiles: which rules look, how loud they are, and what a store means by its words. Data."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from sayso.errors import UsageError
from sayso.lint.registry import find_rules
from sayso.lint.rule import Severity

_FILE: Final = "profiles.toml"


@dataclass(frozen=True, slots=True)
class Profile:
    """One profile, with the document that it is taken from and that document's date.

    `on` and `off` are rules beyond the default ones and those of them that do not look;
    `severities` is how loud some are here. `meaning` says of hints how the store's meaning differs
    from the specification's.
    """

    name: str
    about: str
    source: str
    date: str
    on: frozenset[str]
    off: frozenset[str]
    severities: Mapping[str, Severity]
    meaning: Mapping[str, str]


@cache
def profiles() -> Mapping[str, Profile]:
    """All profiles by name."""
    text = files("sayso.lint").joinpath(_FILE).read_text("utf-8")
    return {name: _profile(name, table) for name, table in tomllib.loads(text).items()}


def find_profile(name: str) -> Profile:
    """The profile of this name; raises `UsageError` where there is none."""
    found = profiles().get(name)
    if found is None:
        known = ", ".join(profiles())
        raise UsageError(f"there is no profile {name!r}", fix=f"It is one of {known}.")
    return found


def _profile(name: str, said: Mapping[str, Any]) -> Profile:
    return Profile(
        name=name,
        about=said["about"],
        source=said["source"],
        date=said["date"],
        on=find_rules(said.get("on", ())),
        off=find_rules(said.get("off", ())),
        severities={
            code: severity
            for severity in Severity
            for code in find_rules(said.get(f"{severity}s", ()))
        },
        meaning=said.get("meaning", {}),
    )
