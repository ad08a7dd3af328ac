"""A rule and a test made from a call, as text to copy, checked by the policy parser."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from sayso.console.audit.calls import Line
from sayso.errors import SaysoError
from sayso.policy import LOCAL, CaseResult, Effect, Policy, load_cases, load_policy, run_case
from sayso.schema import MASK, is_hidden

EFFECTS: Final = (str(Effect.DENY), str(Effect.CONFIRM), str(Effect.ALLOW))
_REASONS: Final[Mapping[str, str]] = {
    Effect.DENY: "such calls are not allowed",
    Effect.CONFIRM: "a person must review such calls",
    Effect.ALLOW: "such calls were reviewed and may run",
}
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_LARGEST: Final = 2**63
_SIGNS: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
_GLOBS: Final = str.maketrans({"*": "[*]", "?": "[?]", "[": "[[]"})


@dataclass(frozen=True, slots=True)
class Snippet:
    """Text for a file, or a `failure`. `left_out`: omitted arguments; `verdict`: of a test."""

    text: str
    left_out: tuple[str, ...] = ()
    failure: str = ""
    verdict: CaseResult | None = None


@dataclass(frozen=True, slots=True)
class Wish:
    """The requested rule: its effect, and its conditions in addition to the tool."""

    effect: str = str(Effect.CONFIRM)
    with_client: bool = False
    with_subject: bool = False
    with_arguments: bool = False


def make_rule(line: Line, wish: Wish) -> Snippet:
    """Return a rule for calls like this one, for policy.toml."""

    def write() -> Snippet:
        text, left_out = _rule(line, wish)
        load_policy(text, "the rule")
        return Snippet(text, left_out)

    return _written(write)


def make_test(line: Line, policy: Policy) -> Snippet:
    """Return a case that expects this call's decision, for policy.test.toml."""

    def write() -> Snippet:
        text, left_out = _case(line)
        (case,) = load_cases(text, "the case")
        return Snippet(text, left_out, verdict=run_case(policy, case))

    return _written(write)


def _written(write: Callable[[], Snippet]) -> Snippet:
    try:
        return write()
    except _NotTomlError:
        return Snippet("", failure="The names in this call cannot be written in TOML.")
    except SaysoError as error:
        return Snippet("", failure=str(error))


def _rule(line: Line, wish: Wish) -> tuple[str, tuple[str, ...]]:
    rows = [
        "[[rules]]",
        f"name = {_to_toml(_name(line, wish))}",
        f"effect = {_to_toml(wish.effect)}",
        f"reason = {_to_toml(_REASONS[wish.effect])}",
        "",
        "[rules.when]",
        f"server = {_to_toml(_exactly(line['server']))}",
        f"tool = {_to_toml(_exactly(line['tool']))}",
    ]
    names = {"client": wish.with_client, "subject": wish.with_subject}
    rows += [f"{key} = {_to_toml(_exactly(line[key]))}" for key, is_in in names.items() if is_in]
    written: dict[str, str] = {}
    left_out: tuple[str, ...] = ()
    if wish.with_arguments:
        written, left_out = _as_toml(line["arguments"] or {})
    if written:
        rows += ["", "[rules.when.arguments]"]
        rows += [f"{name} = {{ equals = {value} }}" for name, value in written.items()]
    return _joined(rows), left_out


def _case(line: Line) -> tuple[str, tuple[str, ...]]:
    hints: Mapping[str, Mapping[str, Any]] = line["hints"] or {}
    tool = {"server": line["server"], "name": line["tool"]}
    tool |= {name: hint["value"] for name, hint in hints.items()}
    who = {"subject": line["subject"] or LOCAL, "client": line["client"] or "unknown"}
    name = f"{line['tool']}, as in call {line.call[:8]}"
    rows = [
        "[[cases]]",
        f"name = {_to_toml(name)}",
        f"expect = {_to_toml(line['would_be'] or line['decision'])}",
        f"tool = {_to_toml(tool)}",
        f"principal = {_to_toml(who)}",
    ]
    written, left_out = _as_toml(line["arguments"] or {}, is_path=False)
    if written:
        inner = ", ".join(f"{name} = {value}" for name, value in written.items())
        rows.append(f"arguments = {{ {inner} }}")
    return _joined(rows), left_out


def _as_toml(
    arguments: Mapping[str, Any], *, is_path: bool = True
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the arguments as TOML, and the names of those that cannot be written."""
    written: dict[str, str] = {}
    left_out: list[str] = []
    for name, value in arguments.items():
        # The log masks secrets, so their values are unknown.
        if MASK in str(value) or (is_path and not _is_step(name)):
            left_out.append(name)
            continue
        try:
            written[_to_key(name)] = _to_toml(value)
        except _NotTomlError:
            left_out.append(name)
    return written, tuple(left_out)


def _is_step(name: str) -> bool:
    return bool(name) and "." not in name and name != "*"


def _name(line: Line, wish: Wish) -> str:
    parts = [wish.effect, line["tool"]]
    if wish.with_client:
        parts += ["by", line["client"]]
    if wish.with_subject:
        parts += ["for", line["subject"]]
    return " ".join(map(str, parts))[:120]


def _exactly(name: str) -> str:
    return name.translate(_GLOBS)


def _joined(rows: list[str]) -> str:
    return "\n".join(rows) + "\n"


class _NotTomlError(ValueError):
    """A value that TOML cannot express."""


def _to_toml(value: Any) -> str:
    """Return a JSON value as TOML. Raises `_NotTomlError` if TOML cannot express it."""
    if isinstance(value, str):
        return f'"{"".join(map(_sign, value))}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and -_LARGEST <= value < _LARGEST:
        return str(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_to_toml, cast('list[Any]', value)))}]"
    if isinstance(value, Mapping):
        table = cast("Mapping[str, Any]", value)
        inner = ", ".join(f"{_to_key(name)} = {_to_toml(item)}" for name, item in table.items())
        return f"{{ {inner} }}" if inner else "{}"
    raise _NotTomlError(repr(value))


def _to_key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _to_toml(name)


def _sign(char: str) -> str:
    if char in _SIGNS:
        return _SIGNS[char]
    number = ord(char)
    if 0xD800 <= number <= 0xDFFF:  # noqa: PLR2004 - the halves of pairs (RFC 3629)
        raise _NotTomlError(repr(char))
    if is_hidden(char):
        return f"\\u{number:04X}" if number <= 0xFFFF else f"\\U{number:08X}"  # noqa: PLR2004 - four digits
    return char
