"""What an author gave, checked where it was given: tests and servers are seldom typed."""

import math
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from avow.errors import UsageError
from avow.intent import Intent
from avow.policy import Policy, Principal


def made_intent(intent: object, fields: Mapping[str, Any], *, where: str, how: str) -> Intent:
    """An intent with fields of its own; `how` is what a declaration looks like.

    Raises `UsageError`, at `where`, for what is no intent and for fields that there are none of.
    """
    if intent is not None and not isinstance(intent, Intent):
        what = f"{intent!r} is no intent"
        if callable(intent):
            what = "it says nothing of what the function does"
        raise UsageError(what, where=where, fix=f"Write {how}, say.")
    try:
        return (intent or Intent()).but(**fields)
    except UsageError as error:
        raise UsageError(error.what, where=where, fix=error.fix) from error


def check_scopes(intent: Intent, known: Collection[str] | None, *, where: str) -> None:
    """Raise `UsageError` for a scope that is not one of those that there are."""
    for scope in sorted(intent.scopes - frozenset(known) if known is not None else ()):
        close = get_close_matches(scope, known or (), n=1)
        fix = f"Did you mean {close[0]!r}?" if close else "Name it in bind(…, scopes=…)."
        raise UsageError(f"there is no scope {scope!r}", where=where, fix=fix)


def check_choices(principal: object, policy: object, patience: object) -> None:
    """Raise `UsageError` for a caller, a policy or a time to wait that is none."""
    if principal is not None and not isinstance(principal, Principal):
        fix = f"Write principal=avow.Principal({principal!r})." if _is_text(principal) else None
        raise UsageError(f"{principal!r} is no principal", where="bind", fix=fix)
    if policy is not None and not isinstance(policy, Policy | str | Path):
        fix = "Give an avow.policy.Policy, or the path of a policy.toml."
        raise UsageError(f"{policy!r} is no policy", where="bind", fix=fix)
    for name in ("scopes", "roles") if principal is not None else ():
        held: object = getattr(principal, name)
        if not isinstance(held, frozenset | set) and not (held is None and name == "scopes"):
            raise UsageError(f"a principal's {name} are a set of texts, not {held!r}", where="bind")
    if not isinstance(patience, int | float) or not 0 <= patience < math.inf:
        what = f"patience is how many seconds a call waits, not {patience!r}"
        raise UsageError(what, where="bind")


def _is_text(value: object) -> bool:
    return isinstance(value, str)
