"""`sayso explain`: what would become of a call, by which rule, and why; it calls nothing."""

import json as jsonlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final, cast

import anyio
from cyclopts import Parameter

from sayso.catalog import SEPARATOR, Tool
from sayso.cli.options import Command, Json, PolicyPath, Timeout, targets_of
from sayso.cli.policy import read_policy
from sayso.cli.surface import Surface, read_surface
from sayso.cli.terminal import print_document, show_text, working
from sayso.connect import Target
from sayso.errors import TargetError, UsageError
from sayso.policy import LOCAL, Principal, Situation, facts_of, seen_under
from sayso.policy import explain as explain_situation

_MANY: Final = Parameter(negative="")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who would call."""

    subject: Annotated[str, Parameter(name="--as")] = LOCAL
    """Who calls."""

    scope: Annotated[tuple[str, ...], _MANY] = ()
    """A scope that the caller holds; may be repeated. With no scope and no role it needs none."""

    role: Annotated[tuple[str, ...], _MANY] = ()
    """A role of the caller; may be repeated."""

    client: str = "unknown"
    """The client it calls through."""

    @property
    def principal(self) -> Principal:
        """The caller as the engine knows it."""
        scopes = None
        if self.scope or self.role:
            scopes = frozenset(self.scope)
        return Principal(self.subject, self.client, scopes, frozenset(self.role))


def explain(
    *words: str,
    args: str = "{}",
    caller: Annotated[Caller | None, Parameter(name="*")] = None,
    policy: PolicyPath = None,
    first_use: bool = False,
    json: Json = False,
    timeout: Timeout = 30.0,
    command: Command = None,
) -> int:
    """Say what would become of a call of a tool, by which rule with its line, and why.

    Connects and lists the tools; calls none. Exit code 0, whatever the decision is.

    Parameters
    ----------
    words
        The target, as for sayso inspect, and then the tool's name. If a configuration has several
        servers, write the name as the gateway lists it: SERVER__TOOL. If the target is a command,
        give only the tool's name, and the command after --.
    args
        The call's arguments, as JSON.
    first_use
        Take it that the tool was never used before.
    timeout
        Seconds to wait for the server.
    """
    target, name = _target(words, command)
    arguments = _arguments(args)
    rules = read_policy(policy)
    principal = (caller or Caller()).principal
    with working("Asking for the tools …"):
        surface = anyio.run(partial(read_surface, target, timeout=timeout))
    facts = facts_of(seen_under(rules, _find(surface, name)))
    found = explain_situation(
        rules, Situation(principal, facts, arguments, is_first_use=first_use, now=time.time())
    )
    if json:
        print_document(found.to_dict())
    else:
        for line in found.lines():
            show_text(line)
    return 0


def _target(words: tuple[str, ...], command: list[str] | None) -> tuple[Target, str]:
    fix = "Write sayso explain TARGET TOOL, or sayso explain TOOL -- COMMAND."
    if not words:
        raise UsageError("no tool is named", fix=fix)
    *place, name = words
    if not place and command is None:
        raise UsageError("a target and a tool are needed", fix=fix)
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
        fix=f"Name the server in the tool's name: {targets[0].name}{SEPARATOR}{name}.",
    )


def _arguments(text: str) -> dict[str, Any]:
    try:
        value: object = jsonlib.loads(text)
    except ValueError as error:
        raise UsageError(f"--args is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise UsageError("--args must be a JSON object", fix="""Write --args '{"id": 7}'.""")
    return cast("dict[str, Any]", value)


def _find(surface: Surface, name: str) -> Tool:
    for tool in surface.tools:
        if name in (tool.name, tool.qualified_name):
            return tool
    names = ", ".join(tool.name for tool in surface.tools) or "none"
    raise TargetError(f"there is no tool “{name}”", where=surface.name, fix=f"It has: {names}.")
