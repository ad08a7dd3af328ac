"""A rule and a test made of one call, as text to copy: read by the policy before it is shown."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sayso.console.audit.calls import Line
from sayso.console.audit.toml import UntellableError, to_key, to_toml
from sayso.errors import SaysoError
from sayso.policy import (
    LOCAL,
    CaseResult,
    Effect,
    Policy,
    load_cases,
    load_policy,
    run_case,
)
from sayso.schema import MASK

EFFECTS: Final = (str(Effect.DENY), str(Effect.CONFIRM), str(Effect.ALLOW))
_REASONS: Final[Mapping[str, str]] = {
    Effect.DENY: "this is not done here",
    Effect.CONFIRM: "somebody should look at this first",
    Effect.ALLOW: "this was looked at, and may run",
}
_GLOBS: Final = str.maketrans({"*": "[*]", "?": "[?]", "[": "[[]"})


@dataclass(frozen=True, slots=True)
class Snippet:
    """Text for a file; empty with a `failure` where none can be made.

    `left_out` names what the text cannot hold. `verdict` is what a case comes to today.
    """

    text: str
    left_out: tuple[str, ...] = ()
    failure: str = ""
    verdict: CaseResult | None = None


@dataclass(frozen=True, slots=True)
class Wish:
    """What a rule is to do, and what beside the tool it is to look at."""

    effect: str = str(Effect.CONFIRM)
    with_client: bool = False
    with_subject: bool = False
    with_arguments: bool = False


def make_rule(line: Line, wish: Wish) -> Snippet:
    """A rule on calls like this one, for policy.toml."""
    try:
        text, left_out = _rule(line, wish)
        load_policy(text, "the rule")
    except UntellableError:
        return Snippet("", failure="The names in this call cannot be written in TOML.")
    except SaysoError as error:
        return Snippet("", failure=str(error))
    return Snippet(text, left_out)


def make_test(line: Line, policy: Policy) -> Snippet:
    """A case that expects what was decided on this call, for policy.test.toml."""
    try:
        text, left_out = _case(line)
        (case,) = load_cases(text, "the case")
    except UntellableError:
        return Snippet("", failure="The names in this call cannot be written in TOML.")
    except SaysoError as error:
        return Snippet("", failure=str(error))
    return Snippet(text, left_out, verdict=run_case(policy, case))


def _rule(line: Line, wish: Wish) -> tuple[str, tuple[str, ...]]:
    rows = [
        "[[rules]]",
        f"name = {to_toml(_name(line, wish))}",
        f"effect = {to_toml(wish.effect)}",
        f"reason = {to_toml(_REASONS[wish.effect])}",
        "",
        "[rules.when]",
        f"server = {to_toml(_exactly(line['server']))}",
        f"tool = {to_toml(_exactly(line['tool']))}",
    ]
    rows += [f"client = {to_toml(_exactly(line['client']))}"] if wish.with_client else []
    rows += [f"subject = {to_toml(_exactly(line['subject']))}"] if wish.with_subject else []
    given: Mapping[str, Any] = (line["arguments"] or {}) if wish.with_arguments else {}
    held, left_out = _tellable(given)
    if held:
        rows += ["", "[rules.when.arguments]"]
        rows += [f"{name} = {{ equals = {value} }}" for name, value in held.items()]
    return _joined(rows), left_out


def _case(line: Line) -> tuple[str, tuple[str, ...]]:
    hints: Mapping[str, Mapping[str, Any]] = line["hints"] or {}
    tool = {"server": line["server"], "name": line["tool"]}
    tool |= {name: hint["value"] for name, hint in hints.items()}
    who = {"subject": line["subject"] or LOCAL, "client": line["client"] or "unknown"}
    name = f"{line['tool']}, as in call {line.call[:8]}"
    rows = [
        "[[cases]]",
        f"name = {to_toml(name)}",
        f"expect = {to_toml(line['would_be'] or line['decision'])}",
        f"tool = {to_toml(tool)}",
        f"principal = {to_toml(who)}",
    ]
    held, left_out = _tellable(line["arguments"] or {}, is_path=False)
    if held:
        inner = ", ".join(f"{name} = {value}" for name, value in held.items())
        rows.append(f"arguments = {{ {inner} }}")
    return _joined(rows), left_out


def _tellable(
    arguments: Mapping[str, Any], *, is_path: bool = True
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The arguments that TOML can say, as TOML; and the names of the others."""
    held: dict[str, str] = {}
    left_out: list[str] = []
    for name, value in arguments.items():
        # A secret was masked before it was written down: nobody knows it any more.
        if MASK in str(value) or (is_path and not _is_step(name)):
            left_out.append(name)
            continue
        try:
            held[to_key(name)] = to_toml(value)
        except UntellableError:
            left_out.append(name)
    return held, tuple(left_out)


def _is_step(name: str) -> bool:
    """Whether a name is one step of a path, and means nothing else there."""
    return bool(name) and "." not in name and name != "*"


def _name(line: Line, wish: Wish) -> str:
    parts = [wish.effect, line["tool"]]
    parts += ["by", line["client"]] if wish.with_client else []
    parts += ["for", line["subject"]] if wish.with_subject else []
    return " ".join(map(str, parts))[:120]


def _exactly(name: str) -> str:
    return name.translate(_GLOBS)


def _joined(rows: list[str]) -> str:
    return "\n".join(rows) + "\n"
