"""The rules as people read them: the page of each, and all of them as docs/rules.md."""

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

<!-- Written by tools/write_rules.py from the rules themselves; change those. -->

What `sayso lint` looks for; [lint.md](lint.md) tells how to use it. `sayso rule CODE` prints one of
these. A rule that is not on by default looks where a profile has it or `--select` names it.

Each rule was run over 2,445 real tools of 56 servers, and up to 20 of its findings, drawn by lot,
were judged by reading the tool: a false alarm is one that a careful author of that tool would
rightly wave away. The judgements stand in `training/findings/`. A rule with more than one false
alarm in ten is not on by default; one that found nothing there is on where its tests leave no
doubt.
"""

_BESIDE: Final = frozenset({"SS109", "SS116", "SS901", "SS902", "SS903"})
"""Rules about what stands beside a list: receipts, source, permissions."""

_ON: Final = {True: "on", False: "off"}
_TABLE: Final = """\
| code | name | severity | default | what it finds |
| --- | --- | --- | --- | --- |"""


@cache
def evidence() -> Mapping[str, Mapping[str, int]]:
    """Of each rule how often it fired on real tools (`found`, in `tools`), and how that was judged.

    `judged` findings were read, and `false` of them were false alarms.
    """
    text = files("sayso.lint").joinpath(_EVIDENCE).read_text("utf-8")
    found: Mapping[str, Mapping[str, int]] = json.loads(text)
    return found


def page_of(rule: Rule) -> str:
    """One rule's page, in Markdown."""
    head, _, body = rule.page.partition("\n")
    facts = ", ".join(_facts(rule))
    body = body.strip().replace("## ", "### ")
    return f"## {rule.code} {rule.name}\n\n{head} *{facts}.*\n\n{body}\n\n{_judged(rule)}\n"


def to_dict(rule: Rule) -> dict[str, Any]:
    """A rule as data."""
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": str(rule.severity),
        "default": rule.is_default,
        "summary": rule.summary,
        "page": rule.page,
    }


def handbook() -> str:
    """All of docs/rules.md."""
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
    if rule.code in _BESIDE:
        return "Not measured: the real tools come without what it looks at."
    said = evidence().get(rule.code)
    if said is None or not said["found"]:
        return "On real tools it found nothing."
    found = f"On real tools it fired {said['found']} times"
    if not said["judged"]:
        return f"{found}; none of these was judged."
    return f"{found}; of {said['judged']} that were judged, {said['false']} were false alarms."


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
