"""`sayso service`: run the gateway as a systemd service of one user."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import fields
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from sayso.cli.commands import App, option
from sayso.cli.discover import short
from sayso.cli.options import Command, Json, Yes, targets_of
from sayso.cli.terminal import ask_first, listed, print_document, show_text, tell
from sayso.errors import UsageError

if TYPE_CHECKING:
    from sayso.service import Change, Place, Status, Unit

Name = Annotated[str, option(help="The service's name, for more than one gateway.")]

_PATHS: Final = frozenset({"policy", "receipts", "heads", "access"})
_GROUPS: Final = ("storage", "place", "pipe", "telemetry")
"""The parameters of sayso gateway that hold several options each."""

_KEPT: Final = ("PATH", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
"""Variables that the service gets: without them it would use other programs and files."""

app = App(name="service", help="Run the gateway as a systemd service of yours.")


@app.command
def install(
    *, name: Name = "sayso", dry_run: bool = False, yes: Yes = False, command: Command = None
) -> int:
    """Install and start a service. Shows the unit file and the commands, and asks.

    The target and options of sayso gateway go after --. Run it in the folder from which your
    servers start. A second install replaces the first. If a step fails, all is undone.

    Example: sayso service install -- mcp.json --policy policy.toml

    Parameters
    ----------
    dry_run
        Only show what would be done.
    """
    from sayso.clients import alone
    from sayso.service import Place, carry_out, find_systemd, plan_install

    place = Place.of(name)
    unit = _unit(place, command or [])
    systemd = find_systemd()
    with alone():
        change = plan_install(unit, place, systemd)
        _show(change)
        _tell_variables(place)
        if dry_run:
            return 0
        if not yes:
            ask_first(f"Install and start the service {name}?")
        carry_out(change, systemd)
    _tell_next(place)
    return 0


@app.command
def uninstall(*, name: Name = "sayso", dry_run: bool = False, yes: Yes = False) -> int:
    """Stop and remove a service; restore a unit file that it replaced. Shows it, and asks.

    Running calls may finish first. The log, the keys and the environment file stay.

    Example: sayso service uninstall --name work

    Parameters
    ----------
    dry_run
        Only show what would be done.
    """
    from sayso.clients import alone
    from sayso.service import Place, carry_out, find_systemd, plan_removal

    place = Place.of(name)
    systemd = find_systemd()
    with alone():
        change = plan_removal(place, systemd)
        _show(change)
        if dry_run:
            return 0
        if not yes:
            ask_first(f"Stop and remove the service {name}?")
        carry_out(change, systemd)
    tell("Done. The log and the keys stay.")
    if place.environment_file.exists():
        tell(f"Variables of the service stay in {short(place.environment_file)}.")
    return 0


@app.command
def status(*, name: Name = "sayso", json: Json = False) -> int:
    """Show whether a service is installed, enabled and running. Exit code 1 if it does not run.

    Example: sayso service status --json
    """
    from sayso.service import Place, find_systemd, read_status

    place = Place.of(name)
    current = read_status(place, find_systemd())
    if json:
        print_document(current.to_dict())
    else:
        for line in _lines(current):
            show_text(line)
    return int(not current.is_active)


def _unit(place: "Place", words: list[str]) -> "Unit":
    from sayso.clients import program
    from sayso.service import Unit

    bound, command = _parsed(words)
    return Unit(
        name=place.name,
        words=(*program(), "gateway", *_gateway_words(bound, command)),
        folder=Path.cwd(),
        environment={name: os.environ[name] for name in _KEPT if os.environ.get(name)},
        environment_file=place.environment_file,
        drain=bound["place"].drain,
    )


def _parsed(words: list[str]) -> tuple[Mapping[str, Any], list[str] | None]:
    """Return the arguments of sayso gateway, checked, and the command after a second --."""
    from sayso.cli.app import app as sayso

    index = words.index("--") if "--" in words else len(words)
    command = words[index + 1 :] if index < len(words) else None
    try:
        parsed = sayso.parse(["gateway", *words[:index]])
    except UsageError as error:
        fix = "Run sayso gateway --help for its options."
        raise UsageError(error.what, where="after --", fix=fix) from error
    if isinstance(parsed, str):
        raise UsageError("this is no target or option of sayso gateway", where="after --")
    given = frozenset(parsed.arguments)
    arguments = parsed.with_defaults
    if arguments["pipe"].stdio:
        fix = "Leave it out: clients connect to the service's address."
        raise UsageError("a service has no standard input", where="--stdio", fix=fix)
    targets_of(arguments["target"], command, "service install --")
    if arguments["storage"].policy is not None:
        from sayso.cli.policy import read_policy

        read_policy(arguments["storage"].policy)
    return {
        name: arguments[name] for name in arguments if name in given or name in _GROUPS
    }, command


def _gateway_words(bound: Mapping[str, Any], command: list[str] | None) -> list[str]:
    from sayso.service import absolute

    options = {name: bound[name] for name in ("timeout", "patience", "json") if name in bound}
    for group in _GROUPS:
        for field in fields(bound[group]):
            value = getattr(bound[group], field.name)
            if value != field.default:
                options[field.name] = value
    words = [absolute(word) for word in bound.get("target", ())]
    words += [word for name, value in options.items() for word in _option(name, value)]
    if command is not None:
        words += ["--", *command]
    return words


def _option(name: str, value: Any) -> Iterator[str]:
    """Return the words of one option; none if it is not given."""
    from sayso.service import absolute, absolute_store

    if value is None or value is False:
        return
    option = f"--{name.strip('_').replace('_', '-')}"
    if value is True:
        yield option
    elif isinstance(value, list):
        for item in value:  # pyright: ignore[reportUnknownVariableType]
            yield f"{option}={item}"
    elif isinstance(value, Enum):
        yield f"{option}={value.value}"
    elif name in _PATHS:
        yield f"{option}={absolute(value)}"
    elif name == "store":
        yield f"{option}={absolute_store(value)}"
    else:
        yield f"{option}={value}"


def _show(change: "Change") -> None:
    from sayso.service import commands, difference

    place = change.place
    if change.is_removal:
        verb = "removed" if change.after.data is None else "restored"
        tell(f"{short(place.path)} will be {verb}.")
    else:
        tell(f"{short(place.path)} will have:")
        for line in difference(change):
            show_text(line)
        if change.has_kept:
            tell(f"The file that is there is kept as {place.kept.name}; uninstall restores it.")
    if change.edited is not None:
        tell(f"The file was edited by hand: a copy is kept as {change.edited.name}.")
    tell("Commands:")
    for line in commands(change):
        tell(f"  {line}")


def _tell_variables(place: "Place") -> None:
    """Name the variables of this shell that the service does not get."""
    missing = sorted(name for name in os.environ if name.startswith(("SAYSO_", "OTEL_")))
    file = short(place.environment_file)
    if missing:
        names = listed(missing, 10)
        tell(f"Set here, but not in the service: {names}. Put them into {file} (mode 0600).")
    else:
        tell(f"Variables that your servers need go into {file} (mode 0600), as NAME=value lines.")


def _tell_next(place: "Place") -> None:
    tell(f"Done. {place.unit} runs, and starts again at each login.")
    tell("Log in to the console: sayso console")
    tell(f"Read the log: journalctl --user --unit {place.unit} --follow")
    tell("Run it without a login, from boot: loginctl enable-linger")
    name = "" if place.name == "sayso" else f" --name {place.name}"
    tell(f"Undo: sayso service uninstall{name}")


def _lines(status: "Status") -> Iterator[str]:
    if not status.is_installed:
        yield f"{status.name}: not installed by sayso ({short(Path(status.file))})"
    yield f"{status.name}: {status.state}, {'' if status.is_enabled else 'not '}enabled"
    if status.pid is not None:
        yield f"process {status.pid}, restarted {status.restarts} times"
    if status.exit_code is not None:
        yield f"last exit code: {status.exit_code}"
    if status.is_edited:
        yield f"edited by hand: {short(Path(status.file))}"
    for path in status.additions:
        yield f"added to by: {short(Path(path))}"
    if status.lingers is not None:
        yield "runs without a login" if status.lingers else "ends with your last session"
    yield f"log: journalctl --user --unit {status.name}.service"
