"""Simpler ways to guess hints, to measure the model beside."""

from collections.abc import Mapping, Sequence
from typing import Any

from corpus import Case
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

_READS = ("get", "list", "read", "search", "find", "fetch", "query", "show", "describe", "view")
_LOSES = ("delete", "remove", "drop", "destroy", "purge", "clear", "reset", "cancel", "revoke")
_REPEATS = ("set", "update", "put", "replace", "enable", "disable")


def by_name(tool: Mapping[str, Any]) -> dict[str, bool]:
    """By substrings of the name, as is often done."""
    name = str(tool.get("name", "")).lower()
    if any(word in name for word in _READS):
        return {"read_only": True}
    said = {"read_only": False, "destructive": any(word in name for word in _LOSES)}
    said["idempotent"] = any(word in name for word in (*_REPEATS, *_LOSES))
    return said


def text_of(tool: Mapping[str, Any]) -> str:
    """Name, title and description as one text."""
    name = str(tool.get("name", "")).replace("_", " ").replace("-", " ")
    return f"{name} {tool.get('title') or ''} {tool.get('description') or ''}"


def linear(cases: Sequence[Case]) -> list[dict[str, bool]]:
    """TF-IDF of all words and a logistic regression for each hint, at one half; families unseen."""
    texts = [text_of(one.tool) for one in cases]
    said: list[dict[str, bool]] = [{} for _ in cases]
    groups = [one.family for one in cases]
    for teach, ask in GroupKFold(12).split(texts, groups=groups):
        words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
        seen = words.fit_transform([texts[at] for at in teach])
        asked = words.transform([texts[at] for at in ask])
        for hint in ("read_only", "destructive", "idempotent", "open_world"):
            known = [at for at, one in enumerate(teach) if cases[one].judged[hint] is not None]
            fit = LogisticRegression(C=10, max_iter=1000).fit(
                seen[known], [bool(cases[teach[at]].judged[hint]) for at in known]
            )
            for at, chance in zip(ask, fit.predict_proba(asked)[:, 1], strict=True):
                said[at][hint] = bool(chance >= 0.5)  # noqa: PLR2004 - more likely than not
    return said
