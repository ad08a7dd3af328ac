"""The linter: runs the chosen rules over one server's tools."""

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
from sayso.lint.rule import Finding, Outcome, Remark, Rule, Severity
from sayso.lint.subject import Handler, Listing, Subject
from sayso.schema import text_of
from sayso.settings import Step, members

_MAX_UNFOLDED: Final = 3
_MAX_NAMES: Final = 5
_NO_DEFINITION: Final = Definition(0)


@dataclass(frozen=True, slots=True)
class Choice:
    """The rules to run, with the severities of the profile."""

    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Places:
    """The file that findings point to, and the line of each tool by its index in the list.

    `file` is `None` for a URL. `first` is the line for findings about the whole server, and for
    tools without a line of their own.
    """

    file: str | None = None
    lines: Mapping[int, int] = field(default_factory=dict[int, int])
    first: int = 1

    def line(self, index: int | None) -> int | None:
        if self.file is None:
            return None
        if index is None:
            return self.first
        return self.lines.get(index, self.first)


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of one server.

    `allowed` has the findings that the tools' authors suppressed, with their reasons. `known` has
    the findings that a baseline suppressed. `gone` has the baseline's entries that no finding
    matches. `is_fixable` is set if fixes can be written.
    """

    server: str
    tools: int
    findings: tuple[Finding, ...] = field(repr=False)
    allowed: tuple[tuple[Finding, str], ...] = field(default=(), repr=False)
    known: tuple[Finding, ...] = field(default=(), repr=False)
    gone: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    places: Places = field(default_factory=Places, repr=False)
    is_fixable: bool = False

    def reaches(self, severity: Severity) -> bool:
        return any(finding.severity.rank <= severity.rank for finding in self.findings)


def places_in(file: str, text: str, steps: Sequence[Step]) -> Places:
    """Return the lines of the tools in the array at `steps`, in one pass over the text."""
    lines: dict[int, int] = {}
    line = 1
    offset = 0
    for index, member in enumerate(members(text, steps)):
        line += text.count("\n", offset, member.value_at)
        offset = member.value_at
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
    """Return the tools of one server; the keys of the mappings are tool names.

    An entry that is not an object, or has no name, is added to `broken` only.
    """
    tools: list[Subject] = []
    broken: list[str] = []
    for index, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            broken.append(f"entry {index} of the list is not an object")
            continue
        raw = cast("Mapping[str, Any]", entry)
        name = text_of(raw.get("name"))
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
    """Return the rules that `select` names (default: the profile's), except those in `ignore`.

    Both parameters take codes, prefixes of codes, and names. Raises `UsageError` for unknown ones.
    """
    selected = find_rules(select)
    ignored = find_rules(ignore)
    defaults = {rule.code for rule in all_rules() if rule.is_default} | profile.on
    codes = (selected or defaults - profile.off) - ignored
    return Choice(
        tuple(_with_severity(profile, rule) for rule in all_rules() if rule.code in codes)
    )


def lint(
    listing: Listing | Iterable[object],
    choice: Choice | None = None,
    *,
    places: Places | None = None,
    allows: bool = True,
    is_fixable: bool = False,
) -> Report:
    """Return the findings of the chosen rules, first of the tools, then of the whole list.

    `listing` may also be tools of any kind that `sayso.catalog.as_tool` accepts. `choice` defaults
    to the profile `spec`. With `allows=False`, findings that authors suppressed are reported too.

    >>> lint([{"name": "notes_list", "inputSchema": {"type": "object"}}]).tools
    1
    """
    if not isinstance(listing, Listing):
        listing = make_listing("", [_entry(tool) for tool in listing])
    rules = (choice or choose(find_profile("spec"))).rules
    findings = [*_of_tools(listing, rules), *_of_server(listing, rules)]
    allowed: list[tuple[Finding, str]] = []
    if allows:
        late = [*_afterwards(listing, rules, findings)]
        findings, allowed = _split_allowed(listing, findings)
        findings += late
    return Report(
        listing.name,
        len(listing.tools),
        tuple(sorted(_folded(rules, findings), key=_order)),
        allowed=tuple(allowed),
        places=places or Places(),
        is_fixable=is_fixable,
    )


def _entry(tool: object) -> object:
    """Return a tool as a list entry; keep an invalid one, so that rules report it."""
    try:
        return raw_of(tool)
    except UsageError:
        return tool


def _with_severity(profile: Profile, rule: Rule) -> Rule:
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
    listing: Listing, rules: Sequence[Rule], findings: Sequence[Finding]
) -> Iterator[Finding]:
    reported: defaultdict[int | None, set[str]] = defaultdict(set)
    for finding in findings:
        reported[finding.index].add(finding.code)
    ran = frozenset(rule.code for rule in rules)
    checks = [(rule, rule.after) for rule in rules if rule.after is not None]
    for tool in listing.tools:
        if not tool.allowed:
            continue
        for rule, check in checks:
            for remark in check(tool, Outcome(ran, frozenset(reported[tool.index]))):
                yield _finding(rule, listing, remark, tool)


def _split_allowed(
    listing: Listing, findings: Sequence[Finding]
) -> tuple[list[Finding], list[tuple[Finding, str]]]:
    reasons: dict[int | None, Mapping[str, str]] = {
        tool.index: _reasons(tool) for tool in listing.tools if tool.allowed
    }
    reported: list[Finding] = []
    allowed: list[tuple[Finding, str]] = []
    for finding in findings:
        why = reasons.get(finding.index, {}).get(finding.code)
        if why:
            allowed.append((finding, why))
        else:
            reported.append(finding)
    return reported, allowed


def _folded(rules: Sequence[Rule], findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the findings. Join more than three of one `is_folded` rule into one finding."""
    codes = {rule.code for rule in rules if rule.is_folded}
    many: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.code in codes:
            many[finding.code].append(finding)
        else:
            yield finding
    for same in many.values():
        if len(same) <= _MAX_UNFOLDED:
            yield from same
            continue
        first, *others = same
        named = ", ".join(other.tool for other in others[:_MAX_NAMES])
        if len(others) > _MAX_NAMES:
            named += ", …"
        yield replace(first, message=f"{first.message}; also {len(others)} more tools: {named}")


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
