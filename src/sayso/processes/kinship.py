"""Kinship of processes with the gateway's clients, the programs whose calls a person answers.

A client of the gateway starts other programs: an agent has a shell. These programs must not act
for the person. A process is recognized as one of them by a client among its ancestors, by a
client's terminal, or by an ancestry that was cut, so that a client may have started it. In doubt a
process counts as the client's. A client certainly did not start an older ancestor, a process of a
user that the client's user cannot become, or one that entered the container from outside.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from sayso.processes.table import Process, Table, ancestors, open_table

MAX_FAMILIES: Final = 256
MAX_MEMBERS: Final = 64
_INIT: Final = 1
_ROOT: Final = 0
_SUBORDINATE: Final = 65_536
"""The first user id that may belong to a user namespace of another user (`man subuid`)."""
_MANAGERS: Final = frozenset({"systemd", "launchd", "init"})

NO_TERMINAL: Final = "the process has no terminal"
DESCENDS: Final = "the process was started by a client of the gateway"
SAME_TERMINAL: Final = "the process runs in the same terminal as a client of the gateway"
UNCLEAR: Final = "a client of the gateway may have started the process"

_Key = tuple[int, float]


@dataclass(frozen=True, slots=True)
class Family:
    """A client and its ancestors.

    `members` are the client and its ancestors up to its terminal's shell or its application.
    `above` are the further ancestors, which the client shares with other programs.
    """

    members: tuple[Process, ...]
    above: tuple[Process, ...]

    @property
    def started(self) -> float:
        """Return when the oldest member started; no member started an older process."""
        return self.members[-1].started

    def joined(self, newer: "Family") -> "Family":
        """Return this family with the members of `newer`, which has the same oldest member."""
        known = {_key(member): member for member in (*self.members[:-1], *newer.members[:-1])}
        last = [*known.values()][-MAX_MEMBERS:]
        return Family((*last, newer.members[-1]), newer.above)

    @property
    def terminals(self) -> frozenset[str]:
        return frozenset(member.terminal for member in self.members if member.terminal is not None)

    @property
    def groups(self) -> frozenset[str]:
        return frozenset(member.group for member in self.members)

    def has(self, process: Process) -> bool:
        return _key(process) in map(_key, self.members)

    def is_below(self, process: Process) -> bool:
        """Return whether a process is an ancestor that the client shares with other programs."""
        return _key(process) in map(_key, self.above)


def family_of(line: list[Process]) -> Family:
    """Divide a line, a client and its ancestors, into its own family and what others share.

    If the client has a terminal, all ancestors in the terminal, up to the shell, are members. If it
    has none, all ancestors of its user, up to the service manager, are members.
    """
    terminal = next((process.terminal for process in line if process.terminal is not None), None)
    if terminal is not None:
        size = 1 + max(index for index, process in enumerate(line) if process.terminal == terminal)
    else:
        size = 1
        while size < len(line) and not _is_shared(line[size], line[0]):
            size += 1
    return Family(tuple(line[:size]), tuple(line[size:]))


def _is_shared(process: Process, client: Process) -> bool:
    is_manager = process.name in _MANAGERS and process.parent <= _INIT
    return process.pid == _INIT or is_manager or process.uid != client.uid


@dataclass(slots=True)
class Clients:
    """The clients of a gateway that run on this machine, by the oldest process of each family.

    Families that have ended make room for new ones. With more than `MAX_FAMILIES` running ones,
    every process is refused as unclear.
    """

    tables: Callable[[], Table] = open_table
    families: dict[_Key, Family] = field(default_factory=dict[_Key, Family])

    def add(self, pid: int) -> None:
        table = self.tables()
        line = ancestors(table, pid)
        if not line:
            return
        family = family_of(line)
        key = _key(family.members[-1])
        old_family = self.families.get(key)
        if old_family:
            family = old_family.joined(family)
        self.families[key] = family
        if len(self.families) > MAX_FAMILIES:
            self._drop_one(table)

    def _drop_one(self, table: Table) -> None:
        for key in self.families:
            process = table.look(key[0])
            if process is None or _key(process) != key:
                del self.families[key]
                return

    def name_of(self, pid: int) -> str | None:
        process = self.tables().look(pid)
        return process and process.name

    def has(self, pid: int) -> bool:
        """Return whether a process is a client, or was surely started by one."""
        line = ancestors(self.tables(), pid)
        return any(family.has(process) for family in self.families.values() for process in line)

    def refusal(self, pid: int) -> str | None:
        """Return why a process may not act for a person, or `None` if it may."""
        table = self.tables()
        line = ancestors(table, pid)
        if not line or line[0].terminal is None:
            return NO_TERMINAL
        holders = table.terminal_holders(line[0].terminal)
        drivers = [ancestors(table, holder) for holder in holders or ()]
        if len(self.families) > MAX_FAMILIES:
            return UNCLEAR
        for family in self.families.values():
            if any(family.has(process) for process in line):
                return DESCENDS
            if line[0].terminal in family.terminals:
                return SAME_TERMINAL
            if not _is_apart(line, [driver for driver in drivers if driver], family):
                return UNCLEAR
        return None


def _is_apart(line: list[Process], drivers: list[list[Process]], family: Family) -> bool:
    """Return whether neither a process nor what drives its terminal was started by a client."""
    for driver in drivers:
        if any(family.has(process) for process in driver):
            return False
        if not family.is_below(driver[0]) and not _is_foreign(driver, family):
            return False
    trusted = {_key(driver[0]) for driver in drivers}
    return any(_key(process) in trusted for process in line) or _is_foreign(line, family)


def _is_foreign(line: list[Process], family: Family) -> bool:
    """Return whether a client is certainly not in a line of ancestors, even in a cut part of it.

    An orphan is adopted by init, by a service manager, or by another ancestor that asked for it.
    So for a process below one of these, only another control group is a proof.
    """
    if line[-1].parent > 0:
        return False
    own = [
        process
        for process in line
        if not family.is_below(process) and not _is_shared(process, process)
    ]
    client = family.members[0]
    is_older = any(process.started < family.started for process in own)
    is_anothers = any(
        client.uid not in (process.uid, _ROOT) and process.uid < _SUBORDINATE for process in own
    )
    is_from_outside = bool(own) and own[-1] is line[-1] and line[-1].pid != _INIT
    is_elsewhere = line[0].group not in family.groups
    return is_older or is_anothers or is_from_outside or is_elsewhere


def _key(process: Process) -> _Key:
    return process.pid, process.started
