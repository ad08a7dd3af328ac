"""The documentation of the rules: one page per rule, and one page with all rules."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from sayso.lint.profile import Profile, profiles
from sayso.lint.registry import all_rules
from sayso.lint.rule import Rule

_EVIDENCE: Final = "evidence.json"
_HEAD: Final = """\
# Rules

The rules of `sayso lint`; [lint.md](lint.md) explains how to use it. `sayso rule CODE` prints
the section of one rule. A rule that is off by default runs if a profile or `--select` names it.

Each rule was run over 2,445 real tools of 56 servers. For each rule, up to 20 random findings were
judged by reading the tool. A false alarm is a finding that a careful author would rightly dismiss.
The judgements are in `training/findings/`. A rule with more than one false alarm in ten is off by
default. A rule that found nothing is on if its tests leave no doubt that it is right.
"""

_UNMEASURED: Final = frozenset({"SS109", "SS116", "SS901", "SS902", "SS903"})
"""Rules that need receipts, source or allowed findings; the real tools have none of these."""

_ON: Final = {True: "on", False: "off"}
_TABLE: Final = """\
| code | name | severity | default | finds |
| --- | --- | --- | --- | --- |"""


@cache
def evidence() -> Mapping[str, Mapping[str, int]]:
    """Return for each rule how often it fired on real tools, and how its findings were judged.

    `found` counts all findings; `judged` of them were judged, and `false` were false alarms.
    """
    text = files("sayso.lint").joinpath(_EVIDENCE).read_text("utf-8")
    data: Mapping[str, Mapping[str, int]] = json.loads(text)
    return data


def page_of(rule: Rule) -> str:
    """Return one rule's page in Markdown."""
    head, _, body = rule.page.partition("\n")
    facts = ", ".join(_facts(rule))
    body = body.strip().replace("## ", "### ")
    return f"## {rule.code} {rule.name}\n\n{head} *{facts}.*\n\n{body}\n\n{_judged(rule)}\n"


def to_dict(rule: Rule) -> dict[str, Any]:
    """Return a rule as data for JSON."""
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": str(rule.severity),
        "default": rule.is_default,
        "summary": rule.summary,
        "page": rule.page,
    }


def handbook() -> str:
    """Return the page with all rules, for the documentation site."""
    rows = "\n".join(map(_row, all_rules()))
    stores = "\n\n".join(map(_profile, profiles().values()))
    pages = "\n".join(map(page_of, all_rules()))
    return f"{_HEAD}\n{_TABLE}\n{rows}\n\n## Profiles\n\n{stores}\n\n{pages}".rstrip() + "\n"


def _facts(rule: Rule) -> Iterator[str]:
    yield str(rule.severity).capitalize()
    yield f"{_ON[rule.is_default]} by default"
    for profile in profiles().values():
        is_on = (rule.is_default or rule.code in profile.on) and rule.code not in profile.off
        severity = profile.severities.get(rule.code, rule.severity)
        if is_on and severity is not rule.severity:
            yield f"{severity} under {profile.name}"
        elif is_on is not rule.is_default:
            yield f"{_ON[is_on]} under {profile.name}"


def _judged(rule: Rule) -> str:
    if rule.code in _UNMEASURED:
        return "Not measured: the real tools lack the data that this rule needs."
    counts = evidence().get(rule.code)
    if counts is None or not counts["found"]:
        return "Found nothing on real tools."
    fired = f"Fired {counts['found']} times on real tools"
    if not counts["judged"]:
        return f"{fired}; none were judged."
    return f"{fired}; of {counts['judged']} judged, {counts['false']} were false alarms."


def _row(rule: Rule) -> str:
    anchor = f"#{rule.code.lower()}-{rule.name}"
    default = _ON[rule.is_default]
    cells = [f"[{rule.code}]({anchor})", rule.name, rule.severity, default, rule.summary]
    return f"| {' | '.join(cells)} |"


def _profile(profile: Profile) -> str:
    meaning = "".join(f"\n- `{name}`: {text}" for name, text in profile.meaning.items())
    return (
        f"**{profile.name}**: {profile.about} Source: {profile.source} ({profile.date}).{meaning}"
    )
