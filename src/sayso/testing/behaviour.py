"""Hints held against behaviour: what was seen, and what that says of each hint."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sayso.errors import UsageError

Calls = Mapping[str, Mapping[str, Any] | Sequence[Mapping[str, Any]]]
"""Arguments by tool: those of one call, or of several one after the other."""

Status = Literal["refuted", "supported", "not_exercised"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What calls say of one promise: a hint by its name, or `dry_run`.

    `evidence` is what refutes it, or why nothing is known. `calls` is how many stand behind it.

    >>> print(Verdict("customers_list", "read_only", "supported", 2))
    customers_list: read_only supported by 2 calls
    """

    tool: str
    promise: str
    status: Status
    calls: int = 0
    evidence: str = ""

    def __str__(self) -> str:
        """`customers_list: read_only supported by 2 calls`."""
        if self.status == "supported":
            noun = "call" if self.calls == 1 else "calls"
            return f"{self.tool}: {self.promise} supported by {self.calls} {noun}"
        word = self.status.replace("_", " ")
        return f"{self.tool}: {self.promise} {word}: {self.evidence}"


@dataclass(frozen=True, slots=True)
class Behaviour:
    """All verdicts about one server's tools; `failures` are calls that a test gave and that failed.

    >>> Behaviour("crm", (Verdict("a", "read_only", "supported", 2),)).status("a", "read_only")
    'supported'
    """

    server: str
    verdicts: tuple[Verdict, ...] = ()
    failures: tuple[str, ...] = field(default=())

    def status(self, tool: str, promise: str) -> Status:
        """The verdict on one promise of one tool. Raises `UsageError` where there is none."""
        for verdict in self.verdicts:
            if (verdict.tool, verdict.promise) == (tool, promise):
                return verdict.status
        raise UsageError(f"nothing is said of {promise} of {tool!r}", where=self.server)

    def __str__(self) -> str:
        """Every verdict on a line of its own, what is refuted first."""
        order = ("refuted", "supported", "not_exercised")
        ranked = sorted(self.verdicts, key=lambda verdict: order.index(verdict.status))
        return "\n".join([*map(str, ranked), *self.failures])
