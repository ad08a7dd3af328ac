"""The servers that are held to their contracts, and what holds them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sayso.audit import AuditLog
from sayso.connect import CommandTarget, Target, UrlTarget, place_of
from sayso.contract import Hold, check_ready
from sayso.gateway.quarantine import Quarantine
from sayso.gateway.tool_cache import Judge
from sayso.sandbox import Programs
from sayso.store import Quarantines


@dataclass(slots=True)
class Contracts:
    """The judges and holds of servers. `programs` is `None` if no server has a contract."""

    audit: AuditLog
    quarantines: Quarantines
    inner: Callable[[CommandTarget | UrlTarget], Judge]
    programs: Programs | None
    _holds: dict[str, Hold]

    def judge(self, target: CommandTarget | UrlTarget) -> Judge:
        """Return the judge of a server's tools: `inner`, and then the quarantine.

        That holds for servers without a contract too: a person lifts it, and not a changed file.
        """
        inner = self.inner(target)
        found = Quarantine(self.audit, self.quarantines, place_of(target), target.name, inner)
        if self.programs is not None and _has_contract(target):
            self._holds[target.name] = Hold(self.programs, found)
        return found.judge

    def hold(self, target: CommandTarget | UrlTarget) -> Hold | None:
        """Return what holds a server to its contract, after `judge` was called for it."""
        return self._holds.get(target.name)


async def open_contracts(
    targets: Sequence[Target],
    audit: AuditLog,
    quarantines: Quarantines,
    inner: Callable[[CommandTarget | UrlTarget], Judge],
) -> Contracts:
    """Return the contracts of `targets`. Raises `UncontainedError` if nothing can hold them."""
    programs: Programs | None = None
    if names := [target.name for target in targets if _has_contract(target)]:
        programs = await check_ready(names)
    return Contracts(audit, quarantines, inner, programs, {})


def _has_contract(target: Target) -> bool:
    return isinstance(target, CommandTarget) and target.contract is not None
