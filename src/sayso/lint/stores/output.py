"""Output of a submission: as Markdown, to complete and send, and as JSON for programs."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from sayso.intent import WIRE_NAMES, HintName
from sayso.lint.rule import Finding, Severity, count_of
from sayso.lint.stores.claim import Claim
from sayso.lint.stores.submission import Submission, Submitted
from sayso.schema import is_hidden

BLANK: Final = "______"
"""A blank that the author fills in."""

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_SIGNS: Final = re.compile(
    r"[\\`*_{}\[\]<>#|~&@$]|:(?=//)|(?<=mailto):|(?<=xmpp):|(?<=www)\.", re.IGNORECASE
)
"""Markup, links and mentions anywhere in a line."""
_ODD: Final = re.compile(r"[^ -~“”…]")
"""Characters that may be invisible."""
_MAX_CHARS: Final = 300
_MAX_FINDINGS: Final = 500
_SCHEMA: Final = 1


def as_markdown(made: Submission) -> str:
    """Return the document in Markdown, with servers' texts escaped."""
    return "\n".join(_lines(made)).rstrip() + "\n"


def as_data(text: str) -> str:
    r"""Escape an untrusted text for one line of Markdown, and spell out hidden characters.

    >>> print(as_data("<b>[x](y)</b>"))
    \<b\>\[x\](y)\</b\>
    """
    if len(text) > _MAX_CHARS:
        text = f"{text[: _MAX_CHARS - 1]}…"
    return _SIGNS.sub(r"\\\g<0>", _ODD.sub(_spelt, text))


def _spelt(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}" if is_hidden(match[0]) else match[0]


def _lines(made: Submission) -> Iterator[str]:
    profile = made.store.profile
    yield f"# {_name(made.server)} for {profile.name}"
    yield ""
    yield f"{profile.about} Source: {profile.source} ({profile.date})."
    yield ""
    yield _state(made)
    yield ""
    yield "## Meaning of the hints in this store"
    yield ""
    for name in made.store.hints:
        yield f"- `{WIRE_NAMES[name]}`: {profile.meaning.get(name, 'As in the specification.')}"
    yield ""
    yield from _questions(made)
    yield "## Fix first"
    yield ""
    yield from _errors(made)
    yield ""
    yield "## Tools"
    for tool in made.tools:
        yield ""
        yield from _tool(tool)
    yield ""
    yield from _prompts(made)


def _state(made: Submission) -> str:
    state = count_of(len(made.tools), "tool")
    if made.to_confirm:
        verb = "has" if made.to_confirm == 1 else "have"
        state = f"{made.to_confirm} of {state} {verb} proposals, marked **to confirm**"
        state += ": each is a guess until you confirm it"
    return f"{state}. Fill in the blanks ({BLANK}). No tool was called for this document."


def _questions(made: Submission) -> Iterator[str]:
    yield "## Questions that only you can answer"
    yield ""
    for name, question in made.store.asks.items():
        yield f"- `{WIRE_NAMES[name]}`: {question}"
        yield f"  Answer: {BLANK}"
    yield ""


def _errors(made: Submission) -> Iterator[str]:
    serious = [finding for finding in made.findings if finding.severity is not Severity.NOTE]
    serious.sort(key=lambda finding: finding.severity.rank)
    for finding in serious[:_MAX_FINDINGS]:
        yield _finding(finding)
    more = len(made.findings) - len(serious[:_MAX_FINDINGS])
    if not serious:
        yield "The rules of this store's profile report no errors and no warnings."
    if more:
        command = f"sayso lint --profile {made.store.name}"
        yield f"- {count_of(more, 'more finding')}; run `{command}` to see them all."


def _finding(finding: Finding) -> str:
    head = f"- {finding.severity} {finding.code} ({finding.name}):"
    if finding.tool:
        head += f" {_name(finding.tool)}:"
    return f"{head} {as_data(finding.message)}"


def _tool(tool: Submitted) -> Iterator[str]:
    yield f"### {_name(tool.name)}"
    yield ""
    mark = "" if tool.has_title else ", **to confirm**"
    yield f"- Title{mark}: “{as_data(tool.title)}”"
    if tool.confirm:
        yield f"- A person is asked first: “{as_data(tool.confirm)}”"
    yield ""
    yield "| hint | value | | justification | receipt |"
    yield "| --- | --- | --- | --- | --- |"
    for name, claim in tool.claims.items():
        yield _row(name, claim)


def _row(name: HintName, claim: Claim) -> str:
    mark = str(claim.basis) if claim.is_settled else f"**to confirm** ({claim.basis})"
    doubts = "".join(f" But {as_data(doubt)}." for doubt in claim.doubts)
    why = f"{as_data(claim.justification)}{doubts}"
    value = str(claim.value).lower()
    return f"| `{WIRE_NAMES[name]}` | `{value}` | {mark} | {why} | {claim.receipt} |"


def _prompts(made: Submission) -> Iterator[str]:
    yield "## Test prompts"
    yield ""
    if not made.store.positive and not made.store.negative:
        yield "As far as sayso knows, this store requires no test prompts."
    yield from _blanks("should lead to", made.positive)
    yield from _blanks("should not lead to", made.negative)


def _blanks(what: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"{count_of(len(names), 'prompt')} that {what} a tool:"
        yield ""
    for number, name in enumerate(names, 1):
        yield f"{number}. A prompt that {what} {_name(name)}: {BLANK}"
        yield f"   What should happen: {BLANK}"
    if names:
        yield ""


def _name(name: str) -> str:
    if _NAME.fullmatch(name):
        return f"`{name}`"
    return f"“{as_data(name)}”"


def as_json(made: Submission) -> str:
    """Return the submission as JSON, in ASCII only, so that it cannot control a terminal."""
    profile = made.store.profile
    document = {
        "schema": _SCHEMA,
        "store": {"name": made.store.name, "source": profile.source, "date": profile.date},
        "server": made.server,
        "errors": made.has_errors,
        "to_confirm": made.to_confirm,
        "meaning": dict(profile.meaning),
        "questions": dict(made.store.asks),
        "tools": [_tool_data(tool) for tool in made.tools],
        "prompts": {
            "positive": _prompt_data(made.positive),
            "negative": _prompt_data(made.negative),
        },
        "findings": [
            {
                "code": finding.code,
                "name": finding.name,
                "severity": str(finding.severity),
                "tool": finding.tool or None,
                "message": finding.message,
            }
            for finding in made.findings
        ],
    }
    return json.dumps(document, indent=2) + "\n"


def _tool_data(tool: Submitted) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": {"value": tool.title, "settled": tool.has_title},
        "annotations": tool.annotations,
        "hints": {name: _claim_data(claim) for name, claim in tool.claims.items()},
        "confirm": tool.confirm,
    }


def _claim_data(claim: Claim) -> dict[str, Any]:
    return {
        "value": claim.value,
        "source": str(claim.basis),
        "settled": claim.is_settled,
        "justification": claim.justification,
        "receipt": claim.receipt,
        "doubts": list(claim.doubts),
    }


def _prompt_data(names: tuple[str, ...]) -> list[dict[str, str | None]]:
    return [{"tool": name, "prompt": None, "expected": None} for name in names]
