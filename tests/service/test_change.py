"""Installing and removing a service: whatever fails, nothing is left half-done.

`systemctl` is the stand-in of `tests/service/stand_in.py`; the files are real.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.service.stand_in import StandIn

from sayso.errors import ConfigError, SaysoError, UsageError
from sayso.service import (
    Place,
    Systemd,
    Unit,
    carry_out,
    change,
    commands,
    plan_install,
    plan_removal,
)

pytestmark = pytest.mark.process

OTHER = "[Service]\nExecStart=/bin/true\n"
STEPS = ("disable", "daemon-reload", "enable", "start")


def unit(place: Place, word: str = "mcp.json") -> Unit:
    environment_file = place.environment_file
    return Unit(place.name, ("/bin/sayso", "gateway", word), Path("/"), {}, environment_file, 20.0)


def install(place: Place, stand_in: StandIn, word: str = "mcp.json") -> None:
    systemd = Systemd(stand_in.program)
    carry_out(plan_install(unit(place, word), place, systemd), systemd)


def remove(place: Place, stand_in: StandIn) -> None:
    systemd = Systemd(stand_in.program)
    carry_out(plan_removal(place, systemd), systemd)


def nothing(_place: Place, _stand_in: StandIn) -> None:
    pass


def another(_place: Place, stand_in: StandIn) -> None:
    stand_in.run_other(OTHER)


def ours(place: Place, stand_in: StandIn) -> None:
    install(place, stand_in, "older.json")


def ours_over_another(place: Place, stand_in: StandIn) -> None:
    another(place, stand_in)
    ours(place, stand_in)


before_any = pytest.mark.parametrize("before", [nothing, another, ours, ours_over_another])
each_install = pytest.mark.parametrize(
    ("before", "step"),
    [
        (before, step)
        for before in (nothing, another, ours, ours_over_another)
        for step in STEPS
        if before is not nothing or step != "disable"  # there is nothing to stop
    ],
)
each_removal = pytest.mark.parametrize(
    ("before", "step"),
    [
        *((ours, step) for step in ("disable", "daemon-reload")),
        *((ours_over_another, step) for step in STEPS),
    ],
)


def test_a_service_is_written_privately_enabled_and_started(
    place: Place, stand_in: StandIn
) -> None:
    systemd = Systemd(stand_in.program)
    plan = plan_install(unit(place), place, systemd)
    assert not place.path.exists()
    carry_out(plan, systemd)
    calls = ["daemon-reload", "enable sayso.service", "start sayso.service"]
    assert stand_in.calls() == calls
    assert commands(plan) == [f"systemctl --user {call}" for call in calls]
    assert place.path.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in place.path.parent.iterdir()] == ["sayso.service"]


@before_any
def test_an_uninstall_restores_file_mode_and_state(
    before: Callable[[Place, StandIn], None], place: Place, stand_in: StandIn
) -> None:
    if before in {another, ours_over_another}:
        another(place, stand_in)
    seen = stand_in.seen()
    if before in {ours, ours_over_another}:
        ours(place, stand_in)
    install(place, stand_in)
    assert place.kept.exists() == (before in {another, ours_over_another})
    remove(place, stand_in)
    assert stand_in.seen() == seen


@each_install
def test_an_install_that_fails_leaves_all_as_it_was(
    before: Callable[[Place, StandIn], None], step: str, place: Place, stand_in: StandIn
) -> None:
    before(place, stand_in)
    seen = stand_in.seen()
    stand_in.calls()
    stand_in.fail(step)
    with pytest.raises(SaysoError, match="told to fail") as caught:
        install(place, stand_in)
    assert "Everything is as it was before" in str(caught.value)
    assert f"systemctl --user {step}" in str(caught.value)
    assert stand_in.seen() == seen


@each_removal
def test_an_uninstall_that_fails_leaves_the_service_running(
    before: Callable[[Place, StandIn], None], step: str, place: Place, stand_in: StandIn
) -> None:
    before(place, stand_in)
    seen = stand_in.seen()
    stand_in.fail(step)
    with pytest.raises(SaysoError, match="told to fail"):
        remove(place, stand_in)
    assert stand_in.seen() == seen


class Interruption(BaseException):
    """Ctrl-C, or the end of the machine's power."""


def interrupting(monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """Be interrupted once, just after the step has been carried out."""
    real = Systemd.run

    def run(self: Systemd, *words: str) -> str:
        said = real(self, *words)
        if words[0] == step:
            monkeypatch.setattr(Systemd, "run", real)
            raise Interruption
        return said

    monkeypatch.setattr(Systemd, "run", run)


@each_install
def test_an_interrupted_install_leaves_all_as_it_was(
    before: Callable[[Place, StandIn], None],
    step: str,
    place: Place,
    stand_in: StandIn,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before(place, stand_in)
    seen = stand_in.seen()
    interrupting(monkeypatch, step)
    with pytest.raises(Interruption):
        install(place, stand_in)
    assert stand_in.seen() == seen


@each_install
def test_after_a_crash_the_same_command_finishes_and_all_can_be_undone(
    before: Callable[[Place, StandIn], None],
    step: str,
    place: Place,
    stand_in: StandIn,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if before in {another, ours_over_another}:
        another(place, stand_in)
    seen = stand_in.seen()
    if before in {ours, ours_over_another}:
        ours(place, stand_in)

    def stay_off(*_: object) -> list[str]:
        raise Interruption

    with monkeypatch.context() as patch:
        patch.setattr(change, "_restore", stay_off)  # the power is off: no way back is taken
        interrupting(patch, step)
        with pytest.raises(Interruption):
            install(place, stand_in)
    install(place, stand_in)
    assert b"mcp.json" in place.path.read_bytes()
    assert (stand_in.state / "active").exists()
    remove(place, stand_in)
    assert stand_in.seen() == seen


def test_what_could_not_be_undone_is_named(place: Place, stand_in: StandIn) -> None:
    another(place, stand_in)
    stand_in.fail("daemon-reload", always=True)
    with pytest.raises(SaysoError, match="not all undone") as caught:
        install(place, stand_in)
    assert "run systemctl --user daemon-reload" in str(caught.value)
    assert place.path.read_text() == OTHER


def test_an_edited_file_is_kept_when_it_is_replaced_or_removed(
    place: Place, stand_in: StandIn
) -> None:
    install(place, stand_in)
    edited = place.path.read_text().replace("RestartSec=10", "RestartSec=1")
    place.path.write_text(edited)
    remove(place, stand_in)
    (copy,) = place.path.parent.iterdir()
    assert copy.name.startswith("sayso.service.edited-")
    assert copy.read_text() == edited


def test_a_failed_install_leaves_an_edited_file_and_no_copy(
    place: Place, stand_in: StandIn
) -> None:
    install(place, stand_in)
    place.path.write_text(f"{place.path.read_text()}# more\n")
    seen = stand_in.seen()
    stand_in.fail("disable")
    with pytest.raises(SaysoError, match="told to fail"):
        install(place, stand_in)
    seen["loaded"] = place.path.read_text()  # systemd has read the edited file meanwhile
    assert stand_in.seen() == seen


def test_without_the_kept_copy_an_uninstall_only_removes(place: Place, stand_in: StandIn) -> None:
    another(place, stand_in)
    install(place, stand_in)
    place.kept.unlink()
    remove(place, stand_in)
    assert not place.path.exists()
    assert not (stand_in.state / "active").exists()


def test_a_file_that_cannot_be_changed_or_restored_is_named(
    place: Place, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(place, stand_in)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    systemd = Systemd(stand_in.program)
    plan = plan_removal(place, systemd)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refuse)
        patch.setattr(change, "keep", refuse)
        with pytest.raises(SaysoError, match="cannot be changed") as caught:
            carry_out(plan, systemd)
    assert "not all undone" in str(caught.value)
    assert str(place.path) in str(caught.value)
    assert place.path.exists()


def test_a_systemctl_that_does_not_run_is_told(tmp_path: Path) -> None:
    with pytest.raises(SaysoError, match="cannot run"):
        Systemd(str(tmp_path / "gone")).run("daemon-reload")


def test_a_file_of_somebody_else_is_not_removed(place: Place, stand_in: StandIn) -> None:
    another(place, stand_in)
    with pytest.raises(UsageError, match="did not write this file"):
        remove(place, stand_in)
    assert place.path.read_text() == OTHER
    assert stand_in.calls() == []


def test_a_second_file_of_somebody_else_is_not_lost(place: Place, stand_in: StandIn) -> None:
    another(place, stand_in)
    install(place, stand_in)
    place.path.write_text("[Service]\nExecStart=/bin/false\n")
    with pytest.raises(UsageError, match="cannot be kept"):
        install(place, stand_in)
    assert place.kept.read_text() == OTHER


def test_a_file_that_changed_after_it_was_shown_is_not_replaced(
    place: Place, stand_in: StandIn
) -> None:
    another(place, stand_in)
    systemd = Systemd(stand_in.program)
    plan = plan_install(unit(place), place, systemd)
    place.path.write_text("[Service]\nExecStart=/bin/false\n")
    with pytest.raises(ConfigError, match="has changed since it was shown"):
        carry_out(plan, systemd)
    assert "/bin/false" in place.path.read_text()
    assert not place.kept.exists()
    assert stand_in.calls() == []


def test_a_link_is_neither_followed_nor_replaced(place: Place, stand_in: StandIn) -> None:
    place.path.parent.mkdir(parents=True)
    place.path.symlink_to("/dev/null")  # as systemctl mask does
    with pytest.raises(UsageError, match="linked or masked"):
        install(place, stand_in)
    assert place.path.readlink() == Path("/dev/null")


def test_a_folder_that_others_can_write_to_is_refused(place: Place, stand_in: StandIn) -> None:
    place.path.parent.mkdir(parents=True)
    place.path.parent.chmod(0o777)
    seen = stand_in.seen()
    with pytest.raises((ConfigError, SaysoError), match="other users can write"):
        install(place, stand_in)
    assert stand_in.seen() == seen


def test_nothing_installed_is_told(place: Place, stand_in: StandIn) -> None:
    with pytest.raises(UsageError, match="is not installed"):
        remove(place, stand_in)


@pytest.mark.parametrize("name", ["", "a b", "../x", "x@y", "-x", "a.service", "a\n", "x" * 65])
def test_a_name_that_could_mean_anything_else_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name"):
        Place.of(name)


def test_the_configuration_folder_is_the_one_of_the_environment(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/elsewhere")
    assert Place.of("work").path == Path("/elsewhere/systemd/user/work.service")
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")  # the specification says to ignore it
    assert Place.of("sayso") == place
