"""Verdicts about hints from observed behaviour."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sayso.errors import UsageError

Calls = Mapping[str, Mapping[str, Any] | Sequence[Mapping[str, Any]]]
"""Arguments by tool, of one call or of several in order."""

Status = Literal["refuted", "supported", "not_exercised"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one promise, a hint or `dry_run`, with the number of calls behind it.

    `evidence` is the refutation, or the reason why nothing is known.

    >>> print(Verdict("customers_list", "read_only", "supported", 2))
    customers_list: read_only supported by 2 calls
    """

    tool: str
    promise: str
    status: Status
    calls: int = 0
    evidence: str = ""

    def __str__(self) -> str:
        """Return for example `customers_list: read_only supported by 2 calls`."""
        if self.status == "supported":
            noun = "call" if self.calls == 1 else "calls"
            return f"{self.tool}: {self.promise} supported by {self.calls} {noun}"
        word = self.status.replace("_", " ")
        return f"{self.tool}: {self.promise} {word}: {self.evidence}"


@dataclass(frozen=True, slots=True)
class Behaviour:
    """All verdicts about one server's tools, and the `failures` of calls that a test specified.

    >>> Behaviour("crm", (Verdict("a", "read_only", "supported", 2),)).status("a", "read_only")
    'supported'
    """

    server: str
    verdicts: tuple[Verdict, ...] = ()
    failures: tuple[str, ...] = field(default=())

    def status(self, tool: str, promise: str) -> Status:
        """Return the verdict on one promise of one tool. Raises `UsageError` without one."""
        for verdict in self.verdicts:
            if (verdict.tool, verdict.promise) == (tool, promise):
                return verdict.status
        raise UsageError(f"no verdict on {promise} of {tool!r}", where=self.server)

    def __str__(self) -> str:
        """Return one verdict per line, refuted ones first."""
        order = ("refuted", "supported", "not_exercised")
        ranked = sorted(self.verdicts, key=lambda verdict: order.index(verdict.status))
        return "\n".join([*map(str, ranked), *self.failures])
