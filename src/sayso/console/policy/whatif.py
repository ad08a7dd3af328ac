"""Decisions on hypothetical calls under the current policy."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self, cast

from markupsafe import Markup, escape

from sayso.catalog import SEPARATOR, as_tool
from sayso.console.audit.evidence import Evidence
from sayso.errors import SaysoError
from sayso.guard import Guard
from sayso.policy import (
    LOCAL,
    Explanation,
    Policy,
    Principal,
    Situation,
    facts_of,
    is_switched_off,
    seen_under,
)
from sayso.policy import explain as explain_situation
from sayso.schema import is_hidden

_NO_TOOL: Final = "No server has a tool with this name. See the page Tools."


@dataclass(frozen=True, slots=True)
class Thought:
    """The form of a hypothetical call."""

    tool: str = ""
    arguments: str = "{}"
    subject: str = LOCAL
    client: str = "unknown"
    scopes: str = ""
    roles: str = ""
    is_first_use: bool = False

    @classmethod
    def of_form(cls, form: Mapping[str, str]) -> Self:
        return cls(
            tool=form.get("tool", "").strip(),
            arguments=form.get("arguments", "").strip() or "{}",
            subject=form.get("subject", "").strip() or LOCAL,
            client=form.get("client", "").strip() or "unknown",
            scopes=form.get("scopes", ""),
            roles=form.get("roles", ""),
            is_first_use="first_use" in form,
        )

    @classmethod
    def of_call(cls, evidence: Evidence) -> Self:
        """Return a form filled from a recorded call, whose secrets are masked."""
        last = evidence.call.last
        return cls(
            tool=f"{last['server']}__{last['tool']}",
            arguments=json.dumps(last["arguments"] or {}, indent=2, ensure_ascii=False),
            subject=LOCAL if evidence.is_erased else last["subject"],
            client=last["client"],
        )

    @property
    def shown(self) -> Markup:
        """The arguments for the form: the same JSON with hidden characters escaped."""
        return Markup().join(
            escape(json.dumps(char)[1:-1] if is_hidden(char) and char not in "\n\t" else char)
            for char in self.arguments
        )

    @property
    def principal(self) -> Principal:
        scopes = frozenset(self.scopes.split())
        roles = frozenset(self.roles.split())
        if not scopes and not roles:
            return Principal(self.subject, self.client)
        return Principal(self.subject, self.client, scopes, roles)


@dataclass(frozen=True, slots=True)
class Outlook:
    """The explained decision, or in `failure` why there is no decision."""

    explanation: Explanation | None = None
    failure: str = ""


async def think(guard: Guard, thought: Thought) -> Outlook:
    """Decide a hypothetical call. At most a list of tools is requested; nothing is recorded."""
    try:
        arguments: object = json.loads(thought.arguments)
    except (ValueError, RecursionError) as error:
        return Outlook(failure=f"The arguments are not JSON: {error}.")
    if not isinstance(arguments, dict):
        return Outlook(failure='The arguments must be a JSON object, as in {"id": 7}.')
    policy = guard.policy()
    if refusal := _say_what_is_off(policy, thought):
        return Outlook(failure=refusal)
    try:
        tool = await guard.find_tool(thought.tool, thought.principal)
    except SaysoError as error:
        return Outlook(failure=f"{error}")
    if tool is None:
        return Outlook(failure=_NO_TOOL)
    situation = Situation(
        thought.principal,
        facts_of(seen_under(policy, as_tool(tool))),
        cast("dict[str, Any]", arguments),
        is_first_use=thought.is_first_use,
        now=guard.clock(),
    )
    return Outlook(explain_situation(policy, situation))


def _say_what_is_off(policy: Policy, thought: Thought) -> str:
    """Return why the policy refuses every call of this caller or server; empty if it does not."""
    if is_switched_off(policy, subject=thought.subject):
        return f"The call is refused: the policy switches off the caller “{thought.subject}”."
    for server in sorted(policy.off_servers):
        if thought.tool.startswith(f"{server}{SEPARATOR}"):
            return f"The call is refused: the policy switches off the server “{server}”."
    return ""
