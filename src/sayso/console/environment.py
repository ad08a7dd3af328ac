"""The template environment, with its filters and functions."""

from pathlib import Path
from typing import Any, Final, cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from sayso.approvals import APPROVAL_SECONDS, Approval, Approvals
from sayso.console import words
from sayso.console.approvals.settled import by_whom, settlement
from sayso.console.arguments import argument_rows, in_short, plan_table
from sayso.console.assets import Assets
from sayso.console.audit.calls import LoggedCall
from sayso.console.audit.endings import ending, took
from sayso.console.home import HOME
from sayso.console.text import as_json, kept, lasting, moment, reveal, reveal_block, roughly
from sayso.console.tools.fields import WHOLE
from sayso.console.tools.inventory import key_of
from sayso.console.words import hint_rows
from sayso.gateway import PATH
from sayso.schema import cut, unquoted

_TEMPLATES: Final = Path(__file__).parent / "templates"


def make_environment(base_url: str, approvals: Approvals, assets: Assets) -> Environment:
    """Return an environment that escapes every value and fails for missing ones."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {
        "amount": words.amount,
        "block": reveal_block,
        "cut": cut,
        "in_short": in_short,
        "person": words.person,
        "kept": kept,
        "name": unquoted,
        "as_json": as_json,
    }
    cast("dict[str, Any]", environment.filters).update(filters)
    cast("dict[str, Any]", environment.globals).update(
        _names(base_url, approvals), asset=assets.address
    )
    return environment


def _finalize(value: Any) -> Any:
    """Reveal hidden characters in every text that a template outputs."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return reveal(value)
    return value


def _names(base_url: str, approvals: Approvals) -> dict[str, Any]:
    clock = approvals.clock

    def at(seconds: float) -> Markup:
        return moment(seconds, clock())

    def left(until: float) -> str:
        return lasting(until - clock())

    def settled(approval: Approval, call: LoggedCall | None) -> Markup:
        return settlement(approval, call, clock())

    def ended(call: LoggedCall) -> Markup:
        return ending(call, clock())

    return {
        "home": HOME,
        "mcp_url": f"{base_url}{PATH}",
        "words": words,
        "argument_rows": argument_rows,
        "plan_table": plan_table,
        "hint_rows": hint_rows,
        "key_of": key_of,
        "WHOLE": WHOLE,
        "moment": at,
        "left": left,
        "lasting": lasting,
        "lifetime": roughly(APPROVAL_SECONDS),
        "settlement": settled,
        "ending": ended,
        "took": took,
        "by_whom": by_whom,
    }
