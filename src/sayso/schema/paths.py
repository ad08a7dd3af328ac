"""Paths of values to mask: a subset of JSONPath (RFC 9535)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from sayso.errors import UsageError
from sayso.schema.redaction import MASK

_PART: Final = re.compile(
    r"""(?P<deep>\.\.)(?P<deep_name>[^\s.\[\]'"*]+)
      | \.(?P<name>[^\s.\[\]'"*]+)
      | \['(?P<quoted>[^']+)'\]
      | \[(?P<index>\d+)\]
      | (?P<every>\.\*|\[\*\])""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Step:
    """One part of a path: a name, an index or `None` for all; `is_deep` means at any depth."""

    name: str | int | None
    is_deep: bool = False


Path = tuple[Step, ...]


def parse_path(text: str) -> Path:
    """Parse a path such as `$.customer.email`, `$.items[*].iban`, `$..ssn` or `$['a b'][0]`.

    Raises `UsageError` for any other text.
    """
    rest = text.removeprefix("$")
    steps = list[Step]()
    while rest and text.startswith("$") and (match := _PART.match(rest)):
        rest = rest[match.end() :]
        steps.append(_step(match))
    if rest or not steps:
        fix = "Use a path such as $.customer.email, $.items[*].iban or $..ssn."
        raise UsageError(f"invalid path {text!r}", fix=fix)
    return tuple(steps)


def hide(value: Any, paths: Sequence[Path]) -> Any:
    """Return a copy of `value` with a mask at every matching path."""
    for path in paths:
        value = _hide(value, path)
    return value


def _step(match: re.Match[str]) -> Step:
    if match["every"]:
        return Step(None)
    if match["index"]:
        return Step(int(match["index"]))
    return Step(match["deep_name"] or match["name"] or match["quoted"], is_deep=bool(match["deep"]))


def _hide(value: Any, path: Path) -> Any:
    if not path:
        return MASK
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {key: _child(member, key, path) for key, member in items}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [
            _child(item, index, path) for index, item in enumerate(cast("Sequence[Any]", value))
        ]
    return value


def _child(value: Any, key: str | int, path: Path) -> Any:
    step = path[0]
    if step.name is None or step.name == key:
        value = _hide(value, path[1:])
    if step.is_deep and value != MASK:
        return _hide(value, path)
    return value
