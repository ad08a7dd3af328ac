"""The HTML page: a single file with its style inside, without scripts. Every value is escaped."""

import json
from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from sayso.sandbox import Layer
from sayso.schema import cut, plain
from sayso.trace import Effect, Observer
from sayso.verify.report.evidence import basis, notes_on, reproduction, whence
from sayso.verify.report.summary import hints_of, summarise, why_no_success
from sayso.verify.report.words import HINTS, STATES, State, count_of, standing, state_of
from sayso.verify.verdict import Report, ToolReport
from sayso.version import __version__

_FOLDER: Final = Path(__file__).parent
_POLICY: Final = "default-src 'none'; style-src '{}'; base-uri 'none'; form-action 'none'"
_OBSERVERS: Final = frozenset[str](Observer)
_MOST_TARGETS: Final = 3


@dataclass(frozen=True, slots=True)
class Group:
    """Effects with the same lifetime, kind and reason, and their first targets."""

    life: str
    kind: str
    reason: str
    count: int
    targets: tuple[str, ...]


def as_html(report: Report) -> str:
    """Write the whole page. The same report gives the same page."""
    style = _style()
    text = _template().render(
        report=report,
        server=str(report.server.get("name") or report.target),
        server_version=str(report.server.get("version") or ""),
        summary=summarise(report),
        ignored=_group(effect for tool in report.tools for effect in tool.ignored),
        layers=_layers(report),
        version=__version__,
        style=Markup(style),  # noqa: S704 - our own file
        policy=_POLICY.format(_digest(style)),
    )
    return f"{text}\n"


def _layers(report: Report) -> Sequence[tuple[str, Sequence[Layer]]]:
    watching = [layer for layer in report.layers if layer.name in _OBSERVERS]
    containing = [layer for layer in report.layers if layer.name not in _OBSERVERS]
    return [("Containment", containing), ("Observers", watching)]


def _group(effects: Iterable[Effect]) -> Sequence[Group]:
    targets = defaultdict[tuple[str, str, str], list[str]](list)
    for effect in effects:
        targets[str(effect.life or ""), str(effect.kind), effect.reason].append(effect.target)
    groups = [
        Group(*key, count=len(named), targets=tuple(dict.fromkeys(named))[:_MOST_TARGETS])
        for key, named in sorted(targets.items())
    ]
    return sorted(groups, key=lambda group: group.count, reverse=True)


def _states_of(tool: ToolReport) -> Sequence[State]:
    states = {state_of(verdict) for _, verdict in hints_of(tool)}
    return [state for state in State if state in states]


@lru_cache(maxsize=1)
def _style() -> str:
    return (_FOLDER / "page.css").read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """Return a style's hash for the Content Security Policy (CSP Level 3, hash-source)."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


@lru_cache(maxsize=1)
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pretty = partial(json.dumps, ensure_ascii=False, default=str, indent=2)
    filters = {"cut": cut, "block": _block, "pretty": pretty, "group": _group}
    functions = (count_of, standing, state_of, why_no_success, basis, notes_on, whence)
    cast("dict[str, Any]", environment.filters).update(filters)
    cast("dict[str, Any]", environment.globals).update(
        {function.__name__: function for function in functions},
        HINTS=HINTS,
        STATES=STATES,
        reproduction=reproduction,
        states_of=_states_of,
    )
    return environment.get_template("page.html")


def _finalize(value: Any) -> Any:
    """Make invisible characters of a text visible, before the template escapes the text."""
    if isinstance(value, str) and not isinstance(value, Markup) and not value.isprintable():
        return plain(value)
    return value


def _block(text: str) -> Markup:
    """Turn text into HTML for `pre`. A server's texts must not contain line breaks."""
    return escape("\n".join(plain(line) for line in text.split("\n")))
