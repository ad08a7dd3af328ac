"""Stores: what each one's review asks for, and what its words mean. Data, beside its profile."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from sayso.errors import UsageError
from sayso.intent import HintName
from sayso.lint.profile import Profile, find_profile

_FILE: Final = "stores.toml"


@dataclass(frozen=True, slots=True)
class Store:
    """One store; its profile has the rules, the document that it is taken from, and the meanings.

    `hints` are those that it wants explicit on every tool. `claims` are what each value says
    there, `asks` what only an author can answer. `never_on_reads` and `on_every_write` are hints
    whose value follows, there, from whether a tool writes; of `unlike_on_writes` a declaration
    settles no looser value of a tool that writes. `signs` are words of a description by which a
    tool is not what the store calls read-only.
    """

    profile: Profile
    hints: tuple[HintName, ...]
    positive: int
    negative: int
    never_on_reads: frozenset[HintName]
    on_every_write: frozenset[HintName]
    unlike_on_writes: frozenset[HintName]
    signs: tuple[str, ...]
    claims: Mapping[HintName, Mapping[bool, str]]
    asks: Mapping[HintName, str]

    @property
    def name(self) -> str:
        """The name of its profile."""
        return self.profile.name


@cache
def stores() -> Mapping[str, Store]:
    """All stores by name."""
    text = files("sayso.lint.stores").joinpath(_FILE).read_text("utf-8")
    return {name: _store(name, table) for name, table in tomllib.loads(text).items()}


def find_store(name: str) -> Store:
    """The store of this name; raises `UsageError` where there is none.

    >>> find_store("openai").hints
    ('read_only', 'destructive', 'open_world')
    """
    found = stores().get(name)
    if found is None:
        known = ", ".join(stores())
        raise UsageError(f"there is no store {name!r}", fix=f"It is one of {known}.")
    return found


def _store(name: str, said: Mapping[str, Any]) -> Store:
    return Store(
        profile=find_profile(name),
        hints=tuple(said["hints"]),
        positive=said["positive"],
        negative=said["negative"],
        never_on_reads=frozenset(said.get("never_on_reads", ())),
        on_every_write=frozenset(said.get("on_every_write", ())),
        unlike_on_writes=frozenset(said.get("unlike_on_writes", ())),
        signs=tuple(said.get("signs", ())),
        claims={
            hint: {True: claim["yes"], False: claim["no"]} for hint, claim in said["claims"].items()
        },
        asks=said["asks"],
    )
