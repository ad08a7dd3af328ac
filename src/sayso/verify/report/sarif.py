"""A report as SARIF 2.1.0 (OASIS), for code scanning."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from sayso.intent import HINT_NAMES, HintName
from sayso.report import sarif_rule, write_sarif
from sayso.schema import cut
from sayso.verify.report.evidence import again, behind, in_line, notes_on, whence
from sayso.verify.report.summary import hints_of
from sayso.verify.report.words import HINTS, STATES, State, standing, state_of
from sayso.verify.verdict import HintVerdict, Report, ToolReport

_LEVELS: Final[Mapping[State, str]] = {State.REFUTED: "error", State.OVER_DECLARED: "note"}
_MOST: Final = 10
_LONGEST: Final = 1000


@dataclass(frozen=True, slots=True)
class _Told:
    """A verdict that becomes a result, with the id of its rule."""

    tool: ToolReport
    hint: HintName
    found: HintVerdict
    state: State

    @property
    def rule(self) -> str:
        return _rule_id(self.hint, self.state)


def as_sarif(report: Report) -> str:
    """One run; a result for each hint that is refuted or over-declared. Only ASCII."""
    told = [
        _Told(tool, hint, found, state)
        for tool in report.tools
        for hint, found in hints_of(tool)
        if (state := state_of(found)) in _LEVELS
    ]
    used = {result.rule for result in told}
    rules = [
        _rule(hint, state)
        for hint in HINT_NAMES
        for state in _LEVELS
        if _rule_id(hint, state) in used
    ]
    places = {rule["id"]: index for index, rule in enumerate(rules)}
    results = [_result(report, result, places[result.rule]) for result in told]
    properties = {
        "profile": report.profile,
        "seed": report.seed,
        "layers": [layer.to_dict() for layer in report.layers],
    }
    return write_sarif(rules, results, properties=properties)


def _rule_id(hint: HintName, state: State) -> str:
    return f"{HINTS[hint]}-{STATES[state].name}"


def _rule(hint: HintName, state: State) -> dict[str, Any]:
    summary = f"The {HINTS[hint]} hint is {STATES[state].name}"
    meaning = f"{summary}: {STATES[state].meaning}."
    return sarif_rule(
        _rule_id(hint, state), summary, meaning=meaning, help_=meaning, level=_LEVELS[state]
    )


def _result(report: Report, told: _Told, place: int) -> dict[str, Any]:
    server = _server(report)
    logical = {
        "name": told.tool.name,
        "fullyQualifiedName": f"{server}/{told.tool.name}",
        "kind": "function",
    }
    # Neither words nor evidence, which differ from run to run.
    known_by = [server, told.tool.name, told.hint, told.state, told.found.declared]
    mark = sha256(json.dumps(known_by).encode()).hexdigest()
    return {
        "ruleId": told.rule,
        "ruleIndex": place,
        "level": _LEVELS[told.state],
        "message": {"text": _message(told)},
        "locations": [{"logicalLocations": [logical]}],
        "partialFingerprints": {"saysoVerdict/v1": mark},
        "properties": _properties(told),
    }


def _message(told: _Told) -> str:
    subject = f"{told.tool.name}: {HINTS[told.hint]} is {standing(told.found)}"
    shown = [
        "; ".join([f"{effect.kind} {effect.target} ({whence(effect)})", *notes_on(effect)])
        for effect in told.found.evidence[:_MOST]
    ]
    call = again(told.tool, told.found)
    if call is not None:
        shown.append(f"tools/call {in_line(call)}")
    lines = [f"{subject}, {STATES[told.state].name}: {told.found.reason}", *shown]
    return "\n".join(cut(line, _LONGEST) for line in lines)


def _properties(told: _Told) -> dict[str, Any]:
    return {
        "declared": told.found.declared,
        "verdict": told.found.verdict,
        "behind": behind(told.found),
        "toolFingerprint": told.tool.fingerprint,
    }


def _server(report: Report) -> str:
    return str(report.server.get("name") or report.target)
