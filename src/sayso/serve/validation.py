"""What an author gave, checked where it was given: tests and servers are seldom typed."""

import math
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any

from sayso.errors import UsageError
from sayso.intent import Intent, as_intent, in_own_words
from sayso.policy import LOCAL, Policy, Principal, is_reserved


def made_intent(intent: object, fields: Mapping[str, Any], *, where: str, how: str) -> Intent:
    """An intent with fields of its own; `how` is what a declaration looks like.

    Raises `UsageError`, at `where`, for what is no intent and for fields that there are none of.
    """
    try:
        base = as_intent(intent, where=where)
    except UsageError as error:
        what = f"{intent!r} is no intent"
        if callable(intent):
            what = "it says nothing of what the function does"
        elif isinstance(intent, Mapping):
            what = error.what
        raise UsageError(what, where=where, fix=f"Write {how}, say.") from None
    try:
        return (base or Intent()).but(**in_own_words(fields, where=where))
    except UsageError as error:
        raise UsageError(error.what, where=where, fix=error.fix) from error


def check_scopes(intent: Intent, known: Collection[str] | None, *, where: str) -> None:
    """Raise `UsageError` for a scope that is not one of those that there are."""
    if known is None:
        return
    for scope in sorted(intent.scopes - frozenset(known)):
        close = get_close_matches(scope, known, n=1)
        fix = f"Did you mean {close[0]!r}?" if close else "Name it in bind(…, scopes=…)."
        raise UsageError(f"there is no scope {scope!r}", where=where, fix=fix)


def check_choices(principal: object, policy: object, store: object, patience: object) -> None:
    """Raise `UsageError` for a caller, a policy, a store or a time to wait that is none."""
    if principal is not None and not isinstance(principal, Principal):
        fix = f"Write principal=sayso.Principal({principal!r})." if _is_text(principal) else None
        raise UsageError(f"{principal!r} is no principal", where="bind", fix=fix)
    if principal is not None and principal.subject != LOCAL and is_reserved(principal.subject):
        raise UsageError(f"sayso gives the name {principal.subject!r} to others", where="bind")
    if policy is not None and not isinstance(policy, Policy):
        from sayso.policy import check_policy  # noqa: PLC0415 - loads what reads policies

        check_policy(policy, where="bind")
    if not isinstance(store, str):
        what = f"store must be a URL or “temporary”, got {store!r}"
        raise UsageError(what, where="bind", fix=f'Write store="sqlite:{store}".')
    if not isinstance(patience, int | float) or not 0 <= patience < math.inf:
        what = f"patience is how many seconds a call waits, not {patience!r}"
        raise UsageError(what, where="bind")


def _is_text(value: object) -> bool:
    return isinstance(value, str)
