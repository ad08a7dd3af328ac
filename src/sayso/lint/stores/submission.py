"""A whole submission: every tool with its claims, the prompts to fill in, and what is wrong."""

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
    """One tool as it would be submitted; `has_title` where the title is its author's."""

    name: str
    title: str
    has_title: bool
    claims: dict[HintName, Claim] = field(repr=False)
    confirm: str | None = None

    @property
    def is_settled(self) -> bool:
        """Whether nothing of it waits for its author's word."""
        return self.has_title and all(claim.is_settled for claim in self.claims.values())

    @property
    def annotations(self) -> dict[str, bool | str]:
        """What would stand in `tools/list`, as the store means it."""
        hints = {WIRE_NAMES[name]: claim.value for name, claim in self.claims.items()}
        return {"title": self.title, **hints}


@dataclass(frozen=True, slots=True)
class Submission:
    """What one store's review asks of one server.

    `positive` are the tools that test prompts should lead to, `negative` those that they should
    not: the words of the prompts are their author's to write.
    """

    store: Store
    server: str
    tools: tuple[Submitted, ...]
    positive: tuple[str, ...]
    negative: tuple[str, ...]
    findings: tuple[Finding, ...] = field(repr=False)

    @property
    def has_errors(self) -> bool:
        """Whether the store's review would send it back for what stands there now."""
        return any(finding.severity is Severity.ERROR for finding in self.findings)

    @property
    def to_confirm(self) -> int:
        """How many tools wait for their author's word."""
        return sum(not tool.is_settled for tool in self.tools)


def submit(listing: Listing, store: Store) -> Submission:
    """What a store's review asks of a server; calls nothing, and allows nobody anything."""
    tools = tuple(_tool(tool, store) for tool in listing.tools)
    report = lint(listing, choose(store.profile), allows=False)
    careful = sorted(tools, key=lambda tool: tool.claims["read_only"].value)
    return Submission(
        store,
        listing.name,
        tools,
        positive=_taken(_by_kind(tools), store.positive),
        negative=_taken([tool.name for tool in careful], store.negative),
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
    """The names, one of each kind first, so that a few prompts reach all kinds."""
    seen: set[tuple[bool, ...]] = set()
    first: list[str] = []
    rest: list[str] = []
    for tool in tools:
        kind = tuple(claim.value for claim in tool.claims.values())
        if kind in seen:
            rest.append(tool.name)
        else:
            first.append(tool.name)
        seen.add(kind)
    return first + rest


def _taken(names: Sequence[str], count: int) -> tuple[str, ...]:
    return tuple(islice(cycle(names), count))
