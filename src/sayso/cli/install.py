"""`sayso install` and `sayso uninstall`: put the gateway in front of a client's servers."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from sayso.cli.commands import option
from sayso.cli.discover import short
from sayso.cli.options import Yes
from sayso.cli.terminal import check_agrees, out, plain, tell
from sayso.clients import Plan, Record, Removal
from sayso.errors import UsageError
from sayso.styled import Text

_Client = Literal["claude-code", "claude-desktop", "cursor", "vscode", "gemini"]
_Scope = Literal["user", "local", "project"]
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def install(  # noqa: PLR0913 - one parameter per option
    client: _Client,
    *,
    scope: _Scope | None = None,
    file: str | None = None,
    only: list[str] | None = None,
    left_out: Annotated[list[str] | None, option("--except")] = None,
    url: str | None = None,
    policy: str | None = None,
    dry_run: bool = False,
    yes: Yes = False,
) -> int:
    """Put the gateway in front of a client's servers. Shows the change, and asks.

    The servers move to sayso's own configuration, and one entry replaces them. The original file is
    kept, and sayso uninstall restores it.

    Parameters
    ----------
    client
        claude-code, claude-desktop, cursor, vscode or gemini.
    scope
        user (all your folders), project (this folder, for everyone who works on it), or local
        (this folder, only for you; Claude Code). Default: the scope that has servers.
    file
        Change this file, which is in the client's format, instead of the client's own file.
    only
        Move only this server; repeatable.
    left_out
        Do not move this server; repeatable.
    url
        Connect the client to a running gateway, such as http://127.0.0.1:8321/mcp. Default: the
        client starts a gateway itself.
    policy
        A policy.toml for the gateway that the client starts.
    dry_run
        Only show the change.
    """
    from sayso.clients import Machine, Selection, alone, client_of, pick, plan_install

    _check_policy(policy, url)
    selection = Selection(tuple(only or ()), tuple(left_out or ()), is_started=url is None)
    path = None if file is None else Path(file)
    with alone():
        place = pick(Machine.here(), client_of(client), scope, path)
        plan = plan_install(place, selection, url=url, policy=policy)
        _install(plan, is_dry=dry_run, is_asked=not yes)
    return 0


def _check_policy(policy: str | None, url: str | None) -> None:
    if policy is None:
        return
    if url is not None:
        fix = "Start the running gateway with --policy instead."
        raise UsageError("not allowed with --url", where="--policy", fix=fix)
    from sayso.cli.policy import read_policy

    read_policy(policy)


def _install(plan: Plan, *, is_dry: bool, is_asked: bool) -> None:
    from sayso.clients import carry_out

    client = plan.place.client
    path = short(plan.record.path)
    if not plan.is_needed:
        tell(f"Already installed: nothing to change in {path}.")
        return
    _show_plan(plan)
    if is_dry:
        return
    if is_asked:
        check_agrees(f"Change {path}?")
    carry_out(plan)
    tell(f"Done. Run sayso uninstall {client.name} to restore the file.")
    tell(" ".join(text for text in (client.after, client.first) if text))
    if "command" not in plan.record.entry:
        tell(f"Start the gateway with: sayso gateway {shlex.quote(str(plan.record.servers))}")


def uninstall(
    client: _Client, *, scope: _Scope | None = None, dry_run: bool = False, yes: Yes = False
) -> int:
    """Remove the gateway from a client, and restore the client's file.

    If the file has changed since sayso install, its servers come back and other changes stay.

    Parameters
    ----------
    client
        claude-code, claude-desktop, cursor, vscode or gemini.
    scope
        Only this scope. Default: all scopes where sayso is installed for this client.
    dry_run
        Only show the change.
    """
    from sayso.clients import alone, plan_removal, records

    with alone():
        matches = [
            record
            for record in records()
            if record.client == client and scope in (None, record.scope)
        ]
        if not matches:
            fix = "Run sayso discover to see where sayso is installed."
            raise UsageError(f"sayso is not installed for {client}", fix=fix)
        for record in matches:
            _uninstall(plan_removal(record), record, is_dry=dry_run, is_asked=not yes)
    return 0


def _uninstall(removal: Removal, record: Record, *, is_dry: bool, is_asked: bool) -> None:
    from sayso.clients import client_of, remove

    known = client_of(record.client)
    changes = removal.now.data != removal.then.data
    tell(f"{known.title}: {short(record.path)}")
    if changes:
        before, after = (document.servers(record.steps) for document in (removal.now, removal.then))
        _print_difference(before, after, record.steps)
        if removal.is_exact:
            tell("The file will be restored byte for byte.")
        else:
            tell("The file has changed: its servers come back, and the other changes stay.")
    if is_dry:
        return
    if changes and is_asked:
        check_agrees(f"Change {short(record.path)}?")
    backup = remove(removal)
    tell(f"Done. {known.after}" if changes else "Done. sayso was no longer in the file.")
    if backup is not None:
        tell(f"A backup of the file is in {backup}; it may hold secrets.")


def _show_plan(plan: Plan) -> None:
    from sayso.clients import sorted_reasons

    place = plan.place
    where = f"{place.client.title}, {place.scope}: {short(place.path)}"
    if place.path != plan.record.path:
        where += f", a link to {short(plan.record.path)}"
    tell(where)
    before, after = (document.servers(place.steps) for document in (plan.now, plan.then))
    _print_difference(before, after, place.steps)
    servers = short(plan.record.servers)
    tell(f"Behind sayso: {', '.join(plan.choice.moved)} (moved to {servers}).")
    for names, reason in sorted_reasons(plan.choice.stays):
        tell(f"Not behind sayso: {names}, because {reason}.")
    if place.scope == "project":
        tell("The new entry holds paths of this machine, so it does not work for other people.")
    logins = [
        name
        for name, entry in plan.choice.moved.items()
        if "command" not in entry and not entry.get("headers")
    ]
    if logins:
        tell(
            f"No header for: {', '.join(logins)}. If the client is logged in there, use --except: "
            "sayso cannot take over the login."
        )
    if place.client.caution:
        tell(place.client.caution)


def _print_difference(
    before: Mapping[str, Any], after: Mapping[str, Any], steps: Sequence[str]
) -> None:
    from sayso.clients import difference

    for line in difference(before, after, steps[-1]):
        out().print(Text(plain(line), _COLOURS.get(line[:1], "")))
