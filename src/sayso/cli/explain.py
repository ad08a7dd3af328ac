"""`sayso explain`: the decision for a call, with its rule and reason; calls nothing."""

import json as jsonlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, cast

import anyio

from sayso.catalog import SEPARATOR, Tool
from sayso.cli.commands import option
from sayso.cli.options import Command, Json, PolicyPath, Timeout, targets_of
from sayso.cli.policy import read_policy
from sayso.cli.terminal import print_document, show_text, working
from sayso.cli.tool_reading import ToolListing, read_listing
from sayso.connect import Target
from sayso.errors import TargetError, UsageError
from sayso.policy import LOCAL, Principal, Situation, facts_of, seen_under
from sayso.policy import explain as explain_situation


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of the tools.

    Parameters
    ----------
    subject
        Subject of the caller.
    scope
        Scope of the caller; repeatable. Without --scope and --role, none are checked.
    role
        Role of the caller; repeatable.
    client
        Client that the caller uses.
    """

    subject: Annotated[str, option("--as")] = LOCAL
    scope: tuple[str, ...] = ()
    role: tuple[str, ...] = ()
    client: str = "unknown"

    @property
    def principal(self) -> Principal:
        """The caller as a principal."""
        scopes = None
        if self.scope or self.role:
            scopes = frozenset(self.scope)
        return Principal(self.subject, self.client, scopes, frozenset(self.role))


def explain(
    *words: str,
    args: str = "{}",
    caller: Caller | None = None,
    policy: PolicyPath = None,
    first_use: bool = False,
    json: Json = False,
    timeout: Timeout = 30.0,
    command: Command = None,
) -> int:
    """Show the decision for a tool call, with the rule, its line and the reason.

    Connects and lists the tools; calls none. Exit code 0 for every decision.

    Parameters
    ----------
    words
        The target, as for sayso inspect, then the tool's name. For a configuration of several
        servers, write the name as the gateway lists it: SERVER__TOOL. For a command, write only
        the tool's name, and the command after --.
    args
        The arguments of the call, as JSON.
    first_use
        Assume that the tool was never used before.
    """
    target, name = _target(words, command)
    arguments = _arguments(args)
    rules = read_policy(policy)
    principal = (caller or Caller()).principal
    with working("Listing tools …"):
        listing = anyio.run(partial(read_listing, target, timeout=timeout))
    facts = facts_of(seen_under(rules, _find(listing, name)))
    situation = Situation(principal, facts, arguments, is_first_use=first_use, now=time.time())
    explanation = explain_situation(rules, situation)
    if json:
        print_document(explanation.to_dict())
    else:
        for line in explanation.lines():
            show_text(line)
    return 0


def _target(words: tuple[str, ...], command: list[str] | None) -> tuple[Target, str]:
    fix = "Write sayso explain TARGET TOOL, or sayso explain TOOL -- COMMAND."
    if not words:
        raise UsageError("a tool is required", fix=fix)
    *place, name = words
    if not place and command is None:
        raise UsageError("a target and a tool are required", fix=fix)
    return _server_of(name, targets_of(place, command)), name


def _server_of(name: str, targets: Sequence[Target]) -> Target:
    if len(targets) == 1:
        return targets[0]
    matches = [target for target in targets if name.startswith(f"{target.name}{SEPARATOR}")]
    if len(matches) == 1:
        return matches[0]
    names = ", ".join(target.name for target in targets)
    raise TargetError(
        f"the target has several servers: {names}",
        fix=f"Add the server to the tool's name: {targets[0].name}{SEPARATOR}{name}.",
    )


def _arguments(text: str) -> dict[str, Any]:
    try:
        value: object = jsonlib.loads(text)
    except ValueError as error:
        raise UsageError(f"--args is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise UsageError("--args must be a JSON object", fix="""Write --args '{"id": 7}'.""")
    return cast("dict[str, Any]", value)


def _find(listing: ToolListing, name: str) -> Tool:
    for tool in listing.tools:
        if name in (tool.name, tool.qualified_name):
            return tool
    names = ", ".join(tool.name for tool in listing.tools) or "none"
    raise TargetError(f"no tool “{name}”", where=listing.name, fix=f"Its tools: {names}.")
