"""The starting policy that `sayso policy init` writes for the servers at hand."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sayso.cli.address import check_seconds
from sayso.cli.new_files import NewFile, write_files
from sayso.cli.options import all_targets_of
from sayso.cli.terminal import as_json, ask_first, plural, print_document, print_errors, tell
from sayso.cli.tool_reading import ToolListing, ask_listings, errors_in
from sayso.clients import Machine, discover
from sayso.connect import Target
from sayso.errors import SaysoError
from sayso.pages import page_address
from sayso.policy import ServerTools, json_schema, starting_policy

_SCHEMA: Final = "policy.schema.json"


def write_policy(
    words: Sequence[str],
    command: Sequence[str] | None,
    path: Path,
    *,
    timeout: float,
    is_sure: bool,
    is_json: bool,
) -> int:
    """Write a policy for the servers in `words`, and its schema; return the exit code.

    Nothing is written if none of the servers can be reached. `timeout` is in seconds.
    """
    check_seconds(timeout, "--timeout")
    problems: list[SaysoError] = []
    if words or command is not None:
        targets = all_targets_of(words, command, "policy init")
    else:
        targets = _discovered(problems, is_sure=is_sure)
    servers = _servers(targets, timeout, problems)
    if targets and all(server.problem for server in servers):
        return print_errors(problems, is_json=is_json)
    text = starting_policy(servers, schema=f"./{_SCHEMA}", guide=page_address("guides/policy"))
    schema = NewFile(path.parent / _SCHEMA, as_json(json_schema()))
    write_files([schema, NewFile(path, text)], is_sure=is_sure, is_quiet=is_json)
    _report(path, schema.path, servers, is_json=is_json)
    return print_errors(problems, is_json=is_json)


def _discovered(problems: list[SaysoError], *, is_sure: bool) -> tuple[Target, ...]:
    """Return the servers of this machine's clients; ask before they are started."""
    discovery = discover(Machine.here())
    problems += discovery.errors
    targets: dict[str, Target] = {}
    shown: list[str] = []
    for server in discovery.found:
        if server.is_disabled:
            continue
        try:
            target = server.target()
        except SaysoError as error:
            problems.append(error)
            continue
        if target.name not in targets:
            targets[target.name] = target
            shown.append(f"  {target.name}: {server.shown} ({server.place.path})")
    if targets and not is_sure:
        tell("These servers are configured on this machine:")
        for line in shown:
            tell(line)
        servers = (
            "1 server to list its" if len(targets) == 1 else f"{len(targets)} servers to list their"
        )
        ask_first(f"Start {servers} tools?")
    return tuple(targets.values())


def _servers(
    targets: Sequence[Target], timeout: float, problems: list[SaysoError]
) -> list[ServerTools]:
    """Return each server with its tools. For a failed one, only its error's code goes on."""
    if not targets:
        return []
    found = ask_listings(targets, timeout)
    problems += errors_in(found)
    return [
        ServerTools(target.name, listing.tools)
        if isinstance(listing, ToolListing)
        else ServerTools(target.name, problem=listing.code)
        for target, listing in zip(targets, found, strict=True)
    ]


def _report(path: Path, schema: Path, servers: Sequence[ServerTools], *, is_json: bool) -> None:
    if is_json:
        rows = [
            {"name": server.name, "tools": len(server.tools), "problem": server.problem or None}
            for server in servers
        ]
        print_document({"policy": str(path), "schema_file": str(schema), "servers": rows})
        return
    count = sum(len(server.tools) for server in servers)
    about = f"{len(servers)} {plural(len(servers), 'server')}, {count:,} {plural(count, 'tool')}"
    if not servers:
        about = "no servers found"
    tell(f"Wrote {path} ({about}) and {schema}.")
    tell(f"Check it with sayso policy check {path}, and use it with sayso gateway --policy {path}.")
