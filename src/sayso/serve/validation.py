"""Run-time checks of the values that authors pass, since few authors run a type checker."""

import math
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any

from sayso.errors import UsageError
from sayso.intent import Intent, as_intent, in_own_words
from sayso.policy import LOCAL, Policy, Principal, is_reserved


def build_intent(intent: object, fields: Mapping[str, Any], *, where: str, how: str) -> Intent:
    """Return an intent with the given fields set.

    Raises `UsageError` for an invalid intent or an unknown field; its fix shows the example `how`.
    """
    try:
        base = as_intent(intent, where=where)
    except UsageError as error:
        what = f"{intent!r} is not an intent"
        if callable(intent):
            what = "an intent is required"
        elif isinstance(intent, Mapping):
            what = error.what
        raise UsageError(what, where=where, fix=f"Write {how}, for example.") from None
    try:
        return (base or Intent()).but(**in_own_words(fields, where=where))
    except UsageError as error:
        raise UsageError(error.what, where=where, fix=error.fix) from error


def check_scopes(intent: Intent, known: Collection[str] | None, *, where: str) -> None:
    """Raise `UsageError` for an unknown scope."""
    if known is None:
        return
    for scope in sorted(intent.scopes - frozenset(known)):
        close = get_close_matches(scope, known, n=1)
        fix = f"Did you mean {close[0]!r}?" if close else "Add it to bind(…, scopes=…)."
        raise UsageError(f"unknown scope {scope!r}", where=where, fix=fix)


def check_choices(principal: object, policy: object, store: object, patience: object) -> None:
    """Raise `UsageError` for an invalid principal, policy, store or patience."""
    if principal is not None and not isinstance(principal, Principal):
        is_text = isinstance(principal, str)
        fix = f"Write principal=sayso.Principal({principal!r})." if is_text else None
        raise UsageError(f"{principal!r} is not a principal", where="bind", fix=fix)
    if principal is not None and principal.subject != LOCAL and is_reserved(principal.subject):
        raise UsageError(f"the name {principal.subject!r} is reserved", where="bind")
    if policy is not None and not isinstance(policy, Policy):
        from sayso.policy import check_policy  # noqa: PLC0415 - loads the policy reader

        check_policy(policy, where="bind")
    if not isinstance(store, str):
        what = f"store must be a URL or “temporary”, got {store!r}"
        raise UsageError(what, where="bind", fix=f'Write store="sqlite:{store}".')
    if not isinstance(patience, int | float) or not 0 <= patience < math.inf:
        what = f"patience must be at least 0 seconds, got {patience!r}"
        raise UsageError(what, where="bind")
