"""Profiles: the rules that run, their severities, and what a store means by each hint."""

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
    """One profile, with its source document and that document's date.

    `on` adds rules to the default ones, `off` removes some; `severities` override the rules' own.
    `meaning` describes how a hint's meaning in the store differs from the specification's.
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
    """Return all profiles by name."""
    text = files("sayso.lint").joinpath(_FILE).read_text("utf-8")
    return {name: _profile(name, table) for name, table in tomllib.loads(text).items()}


def find_profile(name: str) -> Profile:
    """Return the profile with this name; raise `UsageError` if it is unknown."""
    profile = profiles().get(name)
    if profile is None:
        raise UsageError(f"unknown profile {name!r}", fix=f"Choose one of {', '.join(profiles())}.")
    return profile


def _profile(name: str, table: Mapping[str, Any]) -> Profile:
    return Profile(
        name=name,
        about=table["about"],
        source=table["source"],
        date=table["date"],
        on=find_rules(table.get("on", ())),
        off=find_rules(table.get("off", ())),
        severities={
            code: severity
            for severity in Severity
            for code in find_rules(table.get(f"{severity}s", ()))
        },
        meaning=table.get("meaning", {}),
    )
