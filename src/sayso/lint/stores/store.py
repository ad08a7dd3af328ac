"""Stores, read from stores.toml: what each review requires, and what it means by the hints."""

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
    """One store; its profile has the rules, the source document and the meanings.

    `hints` must be explicit on every tool. `claims` has a sentence for each value of a hint. `asks`
    are questions that only the author can answer. Hints in `never_on_reads` are false on every
    read-only tool. Hints in `on_every_write` are true on every other tool. For hints in
    `unlike_on_writes`, the author must confirm a looser value declared on a writing tool. The store
    does not count a tool as read-only if its description has a word of `signs`.
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
        return self.profile.name


@cache
def stores() -> Mapping[str, Store]:
    """Return all stores by name."""
    text = files("sayso.lint.stores").joinpath(_FILE).read_text("utf-8")
    return {name: _store(name, table) for name, table in tomllib.loads(text).items()}


def find_store(name: str) -> Store:
    """Return the store with this name; raise `UsageError` if it is unknown.

    >>> find_store("openai").hints
    ('read_only', 'destructive', 'open_world')
    """
    store = stores().get(name)
    if store is None:
        raise UsageError(f"unknown store {name!r}", fix=f"Choose one of {', '.join(stores())}.")
    return store


def _store(name: str, table: Mapping[str, Any]) -> Store:
    return Store(
        profile=find_profile(name),
        hints=tuple(table["hints"]),
        positive=table["positive"],
        negative=table["negative"],
        never_on_reads=frozenset(table.get("never_on_reads", ())),
        on_every_write=frozenset(table.get("on_every_write", ())),
        unlike_on_writes=frozenset(table.get("unlike_on_writes", ())),
        signs=tuple(table.get("signs", ())),
        claims={
            hint: {True: claim["yes"], False: claim["no"]}
            for hint, claim in table["claims"].items()
        },
        asks=table["asks"],
    )
