"""Lints one server's tools: every rule that was chosen, over every tool, and over all of them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from sayso.catalog import raw_of
from sayso.errors import UsageError
from sayso.intent import HintName, Verdict
from sayso.lint.definitions import Definition
from sayso.lint.profile import Profile, find_profile
from sayso.lint.registry import all_rules, find_rules, known_rule
from sayso.lint.rule import Finding, Looked, Remark, Rule, Severity
from sayso.lint.subject import Handler, Listing, Subject, as_text
from sayso.settings import Step, members

_MOST_APART: Final = 3
_MOST_NAMED: Final = 5
_NO_DEFINITION: Final = Definition(0)


@dataclass(frozen=True, slots=True)
class Choice:
    """The rules that look, as loud as they are to be."""

    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Places:
    """A file, and the line of each tool in it by its place in the list; no file for a URL.

    `first` is the line of what is about the whole server, and of tools that have none.
    """

    file: str | None = None
    lines: Mapping[int, int] = field(default_factory=dict[int, int])
    first: int = 1

    def line(self, index: int | None) -> int | None:
        """Return the line of a tool, or of the server; `None` for no file."""
        if self.file is None:
            return None
        if index is None:
            return self.first
        return self.lines.get(index, self.first)


@dataclass(frozen=True, slots=True)
class Report:
    """What was found in one server's tools, and what of it is not told.

    `allowed` are findings that the tools' authors allow, each with the reason; `known` those of a
    baseline, and `gone` its entries that no longer occur. One that `is_mendable` is of a saved
    list, into which fixes can be written.
    """

    server: str
    tools: int
    findings: tuple[Finding, ...] = field(repr=False)
    allowed: tuple[tuple[Finding, str], ...] = field(default=(), repr=False)
    known: tuple[Finding, ...] = field(default=(), repr=False)
    gone: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    places: Places = field(default_factory=Places, repr=False)
    is_mendable: bool = False

    def reaches(self, severity: Severity) -> bool:
        """Whether anything found is that loud, or louder."""
        return any(finding.severity.rank <= severity.rank for finding in self.findings)


def places_in(file: str, text: str, steps: Sequence[Step]) -> Places:
    """The lines of the tools in the array that `steps` lead to, in one pass over the text."""
    lines: dict[int, int] = {}
    line = 1
    at = 0
    for index, member in enumerate(members(text, steps)):
        line += text.count("\n", at, member.value_at)
        at = member.value_at
        lines[index] = line
    return Places(file, lines)


def make_listing(
    server: str,
    entries: Sequence[object],
    *,
    definitions: Mapping[str, Definition] | None = None,
    handlers: Mapping[str, Handler] | None = None,
    verdicts: Mapping[str, Mapping[HintName, Verdict]] | None = None,
    others: Mapping[str, str] | None = None,
) -> Listing:
    """Return the tools of one server; the mappings are by name of the tool.

    An entry that is no object, or has no name, is reported as such and checked no further.
    """
    tools: list[Subject] = []
    broken: list[str] = []
    for index, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            broken.append(f"entry {index} of the list is not an object")
            continue
        raw = cast("Mapping[str, Any]", entry)
        name = as_text(raw.get("name"))
        if not name:
            broken.append(f"entry {index} of the list has no name")
            continue
        tool = Subject(
            raw,
            index=index,
            handler=(handlers or {}).get(name),
            verdicts=(verdicts or {}).get(name),
            comments=(definitions or {}).get(name, _NO_DEFINITION).allowed,
        )
        tools.append(tool)
    return Listing(server, tools, others=others, broken=broken)


def choose(profile: Profile, *, select: Iterable[str] = (), ignore: Iterable[str] = ()) -> Choice:
    """The rules of a profile; with `select` only those, less those of `ignore`.

    Both hold codes, beginnings of codes, and names. Raises `UsageError` for one that is none.
    """
    wanted = find_rules(select)
    unwanted = find_rules(ignore)
    usual = {rule.code for rule in all_rules() if rule.is_default} | profile.on
    codes = (wanted or usual - profile.off) - unwanted
    return Choice(tuple(_as_loud_as(profile, rule) for rule in all_rules() if rule.code in codes))


def lint(
    listing: Listing | Iterable[object],
    choice: Choice | None = None,
    *,
    places: Places | None = None,
    allows: bool = True,
    is_mendable: bool = False,
) -> Report:
    """Return what the chosen rules find: tool by tool, then of the whole list.

    `listing` may also be tools of any kind that `sayso.catalog.as_tool` takes; without a `choice`
    the rules are those of the profile `spec`.

    >>> lint([{"name": "notes_list", "inputSchema": {"type": "object"}}]).tools
    1

    Without `allows` nobody's permission to break a rule counts.
    """
    if not isinstance(listing, Listing):
        listing = make_listing("", [_entry(tool) for tool in listing])
    rules = (choice or choose(find_profile("spec"))).rules
    kept = [*_of_tools(listing, rules), *_of_server(listing, rules)]
    allowed: list[tuple[Finding, str]] = []
    if allows:
        late = [*_afterwards(listing, rules, kept)]
        kept, allowed = _sift(listing, kept)
        kept += late
    return Report(
        listing.name,
        len(listing.tools),
        tuple(sorted(_folded(rules, kept), key=_order)),
        allowed=tuple(allowed),
        places=places or Places(),
        is_mendable=is_mendable,
    )


def _entry(tool: object) -> object:
    """Return a tool as an entry of a list; what is no tool stays, since that is a finding."""
    try:
        return raw_of(tool)
    except UsageError:
        return tool


def _as_loud_as(profile: Profile, rule: Rule) -> Rule:
    return replace(rule, severity=profile.severities.get(rule.code, rule.severity))


def _of_tools(listing: Listing, rules: Sequence[Rule]) -> Iterator[Finding]:
    checks = [(rule, rule.tool) for rule in rules if rule.tool is not None]
    for tool in listing.tools:
        for rule, check in checks:
            for remark in check(tool):
                yield _finding(rule, listing, remark, tool)


def _of_server(listing: Listing, rules: Sequence[Rule]) -> Iterator[Finding]:
    by_name = {tool.name: tool for tool in reversed(listing.tools)}
    for rule in rules:
        if rule.server is None:
            continue
        for remark in rule.server(listing):
            first = next(iter(remark.tools), "")
            yield _finding(rule, listing, remark, by_name.get(first))


def _afterwards(
    listing: Listing, rules: Sequence[Rule], found: Sequence[Finding]
) -> Iterator[Finding]:
    fired: defaultdict[int | None, set[str]] = defaultdict(set)
    for finding in found:
        fired[finding.index].add(finding.code)
    looked = frozenset(rule.code for rule in rules)
    checks = [(rule, rule.after) for rule in rules if rule.after is not None]
    for tool in listing.tools:
        if not tool.allowed:
            continue
        for rule, check in checks:
            for remark in check(tool, Looked(looked, frozenset(fired[tool.index]))):
                yield _finding(rule, listing, remark, tool)


def _sift(
    listing: Listing, found: Sequence[Finding]
) -> tuple[list[Finding], list[tuple[Finding, str]]]:
    reasons: dict[int | None, Mapping[str, str]] = {
        tool.index: _reasons(tool) for tool in listing.tools if tool.allowed
    }
    kept: list[Finding] = []
    allowed: list[tuple[Finding, str]] = []
    for finding in found:
        why = reasons.get(finding.index, {}).get(finding.code)
        if why:
            allowed.append((finding, why))
        else:
            kept.append(finding)
    return kept, allowed


def _folded(rules: Sequence[Rule], found: Sequence[Finding]) -> Iterator[Finding]:
    """Findings, with one for many of a rule that is about how the whole server is made."""
    codes = {rule.code for rule in rules if rule.is_folded}
    many: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in found:
        if finding.code in codes:
            many[finding.code].append(finding)
        else:
            yield finding
    for same in many.values():
        if len(same) <= _MOST_APART:
            yield from same
            continue
        first, *others = same
        named = ", ".join(other.tool for other in others[:_MOST_NAMED])
        if len(others) > _MOST_NAMED:
            named += ", …"
        yield replace(first, message=f"{first.message}; so are {len(others)} more: {named}")


def _reasons(tool: Subject) -> Mapping[str, str]:
    return {
        rule.code: allowance.reason
        for allowance in tool.allowed
        if (rule := known_rule(allowance.word)) and allowance.reason
    }


def _finding(rule: Rule, listing: Listing, remark: Remark, tool: Subject | None) -> Finding:
    about = [str(step) for step in remark.at] + list(remark.tools[1:])
    return Finding(
        code=rule.code,
        name=rule.name,
        severity=rule.severity,
        server=listing.name,
        message=remark.message,
        tool=tool.name if tool else "",
        index=tool.index if tool else None,
        at=remark.at,
        edits=remark.edits,
        about="/".join(about),
    )


def _order(finding: Finding) -> tuple[bool, int, str]:
    return finding.index is None, finding.index or 0, finding.code
