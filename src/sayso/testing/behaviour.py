"""Hints held against behaviour: what was seen, and what that says of each hint."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from sayso.errors import UsageError
from sayso.testing.loops import run_here
from sayso.testing.states import Probe

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


def assert_behaves(
    server: object,
    *,
    calls: Calls | None = None,
    probe: Probe | Sequence[Probe] = (),
    varying: Sequence[str] = (),
    only: Sequence[str] | None = None,
    reset: Callable[[], Any] | None = None,
    exact: bool = False,
) -> Behaviour:
    """Call the tools of one's own server, and find no hint that is false.

    See `exercise` for the arguments; inside of an event loop, give what `await exercise(…)` gave.
    There is no containment: whatever a tool does, it does. Gives all verdicts. Raises
    `AssertionError` where a hint is refuted, or a call that the test gave ended in an error; with
    `exact`, also where a promise was not exercised.

    >>> import tempfile
    >>> from mcp.server import MCPServer
    >>> import sayso
    >>> from sayso.testing import folder_state
    >>> server = MCPServer("crm")
    >>> tools = sayso.bind(server)
    >>> @tools.tool(sayso.READ_ONLY)
    ... def customers_list() -> list[str]:
    ...     return ["Ann"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(assert_behaves(server, probe=folder_state(folder)))
    customers_list: read_only supported by 2 calls
    """
    __tracebackhide__ = True
    if isinstance(server, Behaviour):
        found = server
    else:
        from sayso.testing.exercising import exercise  # noqa: PLC0415 - it imports this

        work = partial(
            exercise, server, calls=calls, probe=probe, varying=varying, only=only, reset=reset
        )
        instead = "assert_behaves(await sayso.testing.exercise(server, …))"
        found = run_here(work, where="assert_behaves", instead=instead)
    refuted = [str(verdict) for verdict in found.verdicts if verdict.status == "refuted"]
    unknown = [
        str(verdict) for verdict in found.verdicts if exact and verdict.status == "not_exercised"
    ]
    if lines := [*refuted, *found.failures, *unknown]:
        what = "it does not behave as declared"
        if len(lines) == len(unknown):
            what = "whether it behaves as declared is not known, and is to be exact"
        raise AssertionError("\n  ".join([f"{found.server}: {what}", *lines]))
    return found
