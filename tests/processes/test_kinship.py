"""Processes that may act for a person, in made-up process tables."""

from dataclasses import dataclass, field, replace

import pytest

from sayso.processes import Clients, Process
from sayso.processes.kinship import (
    DESCENDS,
    MAX_FAMILIES,
    MAX_MEMBERS,
    NO_TERMINAL,
    SAME_TERMINAL,
    UNCLEAR,
)

ME, ROOT = 1000, 0


@dataclass
class Machine:
    """A process table; numbers are handed out in the order in which processes start."""

    rows: dict[int, Process] = field(default_factory=dict[int, Process])
    driven: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    shows_drivers: bool = True
    last: int = 0

    def start(
        self,
        parent: int,
        name: str,
        *,
        at: str | None = None,
        uid: int = ME,
        group: str = "/",
    ) -> int:
        self.last += 1
        pid = self.last
        self.rows[pid] = Process(pid, parent, float(pid), uid, at, name, group)
        return pid

    def orphan(self, pid: int, adopter: int = 1) -> None:
        self.rows[pid] = replace(self.rows[pid], parent=adopter)

    def open_terminal(self, driver: int, *, group: str = "/") -> tuple[str, int]:
        """Have a terminal emulator open a terminal, with a shell in it."""
        terminal = f"pts/{len(self.driven)}"
        self.driven[terminal] = [driver]
        return terminal, self.start(driver, "bash", at=terminal, group=group)

    def look(self, pid: int) -> Process | None:
        return self.rows.get(pid)

    def terminal_holders(self, terminal: str) -> list[int] | None:
        return self.driven.get(terminal, []) if self.shows_drivers else None


@dataclass
class Desk:
    """A person's machine: an emulator with the client in one of its terminals."""

    machine: Machine
    clients: Clients
    init: int
    emulator: int
    client: int
    terminal: str

    def refusal(self, pid: int) -> str | None:
        return self.clients.refusal(pid)

    def command(self, parent: int, at: str | None, group: str = "/") -> int:
        return self.machine.start(parent, "sayso", at=at, group=group)


@pytest.fixture
def desk() -> Desk:
    machine = Machine()
    init = machine.start(0, "systemd", uid=ROOT)
    emulator = machine.start(init, "emulator")
    terminal, shell = machine.open_terminal(emulator)
    client = machine.start(shell, "client", at=terminal)
    clients = Clients(lambda: machine)
    clients.add(client)
    return Desk(machine, clients, init, emulator, client, terminal)


def test_a_person_in_another_terminal_of_the_same_emulator_is_let_in(desk: Desk) -> None:
    terminal, shell = desk.machine.open_terminal(desk.emulator)

    assert desk.refusal(desk.command(shell, terminal)) is None


def test_what_the_client_started_is_refused_wherever_it_runs(desk: Desk) -> None:
    inner, shell = desk.machine.open_terminal(desk.client)

    assert desk.refusal(desk.command(desk.client, desk.terminal)) == DESCENDS
    assert desk.refusal(desk.command(shell, inner)) == DESCENDS
    assert desk.refusal(desk.command(desk.client, None)) == NO_TERMINAL


def test_what_runs_in_the_clients_terminal_is_refused_also_as_an_orphan(desk: Desk) -> None:
    orphan = desk.command(desk.client, desk.terminal)
    desk.machine.orphan(orphan)

    assert desk.refusal(orphan) == SAME_TERMINAL


@pytest.mark.parametrize("adopter", ["init", "emulator"])
def test_an_orphan_that_has_made_a_terminal_of_its_own_is_refused(desk: Desk, adopter: str) -> None:
    script = desk.machine.start(desk.client, "script")
    terminal, shell = desk.machine.open_terminal(script)
    desk.machine.orphan(script, getattr(desk, adopter))

    assert desk.refusal(desk.command(shell, terminal)) == UNCLEAR


def test_a_terminal_that_a_program_of_the_client_drives_is_refused(desk: Desk) -> None:
    script = desk.machine.start(desk.client, "script")
    terminal, shell = desk.machine.open_terminal(script)
    desk.machine.orphan(shell, desk.emulator)

    assert desk.refusal(desk.command(shell, terminal)) == UNCLEAR


def test_a_driver_that_hides_its_descriptors_lets_nobody_in(desk: Desk) -> None:
    script = desk.machine.start(desk.client, "script")
    terminal, shell = desk.machine.open_terminal(script)
    desk.machine.driven[terminal] = []
    desk.machine.orphan(script)

    assert desk.refusal(desk.command(shell, terminal)) == UNCLEAR


def test_an_orphan_on_the_terminal_of_a_window_that_is_left_over_is_refused(desk: Desk) -> None:
    terminal, shell = desk.machine.open_terminal(desk.emulator)
    del desk.machine.rows[shell]
    orphan = desk.command(desk.client, terminal)
    desk.machine.orphan(orphan)

    assert desk.refusal(orphan) == UNCLEAR


def test_a_terminal_program_that_is_older_than_the_client_is_a_persons() -> None:
    machine = Machine()
    init = machine.start(0, "init", uid=ROOT)
    multiplexer = machine.start(init, "tmux")
    editor = machine.start(init, "editor")
    clients = Clients(lambda: machine)
    clients.add(machine.start(editor, "helper"))
    terminal, shell = machine.open_terminal(multiplexer)

    assert clients.refusal(machine.start(shell, "sayso", at=terminal)) is None


def test_a_login_by_another_user_is_a_persons(desk: Desk) -> None:
    session = desk.machine.start(desk.init, "sshd", uid=ROOT)
    daemon = desk.machine.start(session, "sshd")
    terminal, shell = desk.machine.open_terminal(daemon)

    assert desk.refusal(desk.command(shell, terminal)) is None


@pytest.mark.parametrize(("uid", "become"), [(ROOT, ME), (ME, 100_000)])
def test_a_user_that_the_client_can_become_is_nobody_else(uid: int, become: int) -> None:
    machine = Machine()
    init = machine.start(0, "init", uid=ROOT)
    client = machine.start(init, "client", uid=uid)
    clients = Clients(lambda: machine)
    clients.add(client)
    script = machine.start(client, "script", uid=become)
    machine.orphan(script)
    terminal, shell = machine.open_terminal(script)
    machine.rows[shell] = replace(machine.rows[shell], uid=uid)

    assert clients.refusal(machine.start(shell, "sayso", at=terminal, uid=uid)) == UNCLEAR


def test_a_newer_terminal_program_is_a_persons_only_in_another_control_group(desk: Desk) -> None:
    newer = desk.machine.start(desk.init, "xterm", group="/app-xterm.scope")
    terminal, shell = desk.machine.open_terminal(newer, group="/app-xterm.scope")
    unclear = desk.machine.start(desk.init, "xterm")
    other, other_shell = desk.machine.open_terminal(unclear)

    assert desk.refusal(desk.command(shell, terminal, "/app-xterm.scope")) is None
    assert desk.refusal(desk.command(other_shell, other)) == UNCLEAR


def test_who_enters_a_container_from_outside_is_a_person(desk: Desk) -> None:
    shell = desk.machine.start(0, "bash", at="pts/9")

    assert desk.refusal(desk.command(shell, "pts/9")) is None


def test_of_an_application_without_a_terminal_all_processes_are_the_clients() -> None:
    machine = Machine()
    init = machine.start(0, "systemd", uid=ROOT)
    manager = machine.start(init, "systemd")
    editor = machine.start(manager, "editor", group="/app-editor.scope")
    helper = machine.start(editor, "extensions", group="/app-editor.scope")
    terminals = machine.start(editor, "terminals", group="/app-editor.scope")
    clients = Clients(lambda: machine)
    clients.add(helper)
    terminal, shell = machine.open_terminal(terminals, group="/app-editor.scope")

    assert clients.refusal(machine.start(shell, "sayso", at=terminal)) == DESCENDS


def test_a_process_whose_ancestors_cannot_be_read_is_refused(desk: Desk) -> None:
    terminal, shell = desk.machine.open_terminal(desk.emulator)
    command = desk.command(shell, terminal)
    del desk.machine.rows[shell]

    assert desk.refusal(command) == UNCLEAR
    assert desk.refusal(999) == NO_TERMINAL


def test_a_number_that_was_used_again_is_no_parent(desk: Desk) -> None:
    terminal, shell = desk.machine.open_terminal(desk.emulator)
    command = desk.command(shell, terminal)
    desk.machine.rows[shell] = replace(desk.machine.rows[shell], started=9999.0)

    assert desk.refusal(command) == UNCLEAR


def test_where_drivers_are_not_shown_the_ancestors_alone_decide(desk: Desk) -> None:
    desk.machine.shows_drivers = False
    session = desk.machine.start(desk.init, "login", uid=ROOT)
    terminal, shell = desk.machine.open_terminal(session)
    script = desk.machine.start(desk.client, "script")
    other, other_shell = desk.machine.open_terminal(script)
    desk.machine.orphan(script)

    assert desk.refusal(desk.command(shell, terminal)) is None
    assert desk.refusal(desk.command(other_shell, other)) == UNCLEAR


def test_a_process_that_became_the_clients_parent_by_adoption_is_a_client(desk: Desk) -> None:
    desk.clients.add(desk.init)
    terminal, shell = desk.machine.open_terminal(desk.emulator)

    assert desk.refusal(desk.command(shell, terminal)) == DESCENDS


def test_a_client_is_remembered_after_it_has_ended(desk: Desk) -> None:
    shell = desk.command(desk.client, desk.terminal)
    del desk.machine.rows[desk.client]
    desk.machine.orphan(shell)

    assert desk.refusal(shell) == SAME_TERMINAL


def test_a_flood_of_clients_drives_no_client_out_that_still_runs(desk: Desk) -> None:
    mine, _ = desk.machine.open_terminal(desk.emulator)
    for number in range(2 * MAX_FAMILIES):
        flood = desk.machine.start(desk.init, "client")
        desk.clients.add(flood)
        if number < MAX_FAMILIES:
            del desk.machine.rows[flood]
    for _ in range(2 * MAX_MEMBERS):
        desk.clients.add(desk.command(desk.client, desk.terminal))
    desk.clients.add(999_999)

    assert desk.refusal(desk.command(desk.client, mine)) in {DESCENDS, UNCLEAR}
    assert MAX_FAMILIES < len(desk.clients.families) < 2 * MAX_FAMILIES
    assert max(len(one.members) for one in desk.clients.families.values()) <= MAX_MEMBERS + 1


def test_a_client_is_known_by_what_it_has_started(desk: Desk) -> None:
    browser = desk.machine.start(desk.client, "browser")
    other = desk.machine.start(desk.init, "browser")

    assert desk.clients.has(browser)
    assert not desk.clients.has(other)
    assert desk.clients.name_of(desk.client) == "client"
    assert desk.clients.name_of(999) is None
