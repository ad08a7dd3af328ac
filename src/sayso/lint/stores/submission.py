"""A submission: all tools with their claims, test prompts to fill in, and findings to fix."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice

from sayso.catalog import derive_title
from sayso.intent import WIRE_NAMES, HintName
from sayso.lint.rule import Finding, Severity
from sayso.lint.run import choose, lint
from sayso.lint.stores.claim import Claim, claims_of
from sayso.lint.stores.store import Store
from sayso.lint.subject import Listing, Subject


@dataclass(frozen=True, slots=True)
class Submitted:
    """One tool of a submission. `has_title` is true if the author wrote the title."""

    name: str
    title: str
    has_title: bool
    claims: dict[HintName, Claim] = field(repr=False)
    confirm: str | None = None

    @property
    def is_settled(self) -> bool:
        """True if the author does not have to confirm anything."""
        return self.has_title and all(claim.is_settled for claim in self.claims.values())

    @property
    def annotations(self) -> dict[str, bool | str]:
        hints = {WIRE_NAMES[name]: claim.value for name, claim in self.claims.items()}
        return {"title": self.title, **hints}


@dataclass(frozen=True, slots=True)
class Submission:
    """The document that one store's review requires of one server.

    The author writes test prompts: `positive` ones should lead to these tools, `negative` ones
    should not lead to these tools.
    """

    store: Store
    server: str
    tools: tuple[Submitted, ...]
    positive: tuple[str, ...]
    negative: tuple[str, ...]
    findings: tuple[Finding, ...] = field(repr=False)

    @property
    def has_errors(self) -> bool:
        """True if the store's review would reject the server now."""
        return any(finding.severity is Severity.ERROR for finding in self.findings)

    @property
    def to_confirm(self) -> int:
        return sum(not tool.is_settled for tool in self.tools)


def submit(listing: Listing, store: Store) -> Submission:
    """Return a server's submission to a store; allowances are ignored and no tool is called."""
    tools = tuple(_tool(tool, store) for tool in listing.tools)
    report = lint(listing, choose(store.profile), allows=False)
    careful = sorted(tools, key=lambda tool: tool.claims["read_only"].value)
    return Submission(
        store,
        listing.name,
        tools,
        positive=_repeated(_by_kind(tools), store.positive),
        negative=_repeated([tool.name for tool in careful], store.negative),
        findings=report.findings,
    )


def _tool(tool: Subject, store: Store) -> Submitted:
    return Submitted(
        tool.name,
        tool.title or derive_title(tool.name),
        bool(tool.title),
        dict(claims_of(tool, store)),
        tool.declaration.intent.confirm,
    )


def _by_kind(tools: Sequence[Submitted]) -> list[str]:
    """Return the tools' names. One tool of each kind comes first, so few prompts cover all."""
    known_kinds: set[tuple[bool, ...]] = set()
    first: list[str] = []
    others: list[str] = []
    for tool in tools:
        kind = tuple(claim.value for claim in tool.claims.values())
        if kind in known_kinds:
            others.append(tool.name)
        else:
            first.append(tool.name)
        known_kinds.add(kind)
    return first + others


def _repeated(names: Sequence[str], count: int) -> tuple[str, ...]:
    return tuple(islice(cycle(names), count))
