"""Which servers are held to their contracts, and what holds them; refused where nothing can."""

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
    """`inner` says who judges a server's tools first; `programs` is `None` where none has one."""

    audit: AuditLog
    quarantines: Quarantines
    inner: Callable[[CommandTarget | UrlTarget], Judge]
    programs: Programs | None
    _holds: dict[str, Hold]

    def judge(self, target: CommandTarget | UrlTarget) -> Judge:
        """Who judges a server's tools: whoever did, and whether they are in quarantine.

        That holds for servers without a contract too: a person lifts it, and not a changed file.
        """
        found = Quarantine(
            self.audit, self.quarantines, place_of(target), target.name, self.inner(target)
        )
        if self.programs is not None and _has_contract(target):
            self._holds[target.name] = Hold(self.programs, found)
        return found.judge

    def hold(self, target: CommandTarget | UrlTarget) -> Hold | None:
        """What holds a server to its contract, once it is known who judges its tools."""
        return self._holds.get(target.name)


async def open_contracts(
    targets: Sequence[Target],
    audit: AuditLog,
    quarantines: Quarantines,
    inner: Callable[[CommandTarget | UrlTarget], Judge],
) -> Contracts:
    """What holds those of `targets` that have a contract.

    Raises `UncontainedError` where nothing here can.
    """
    names = [target.name for target in targets if _has_contract(target)]
    return Contracts(audit, quarantines, inner, await check_ready(names) if names else None, {})


def _has_contract(target: Target) -> bool:
    return isinstance(target, CommandTarget) and target.contract is not None
