"""`sayso rule`: what a rule of the linter does and why, or a list of all of them."""

from sayso.cli.terminal import out, print_json
from sayso.lint import all_rules, find_rule, page_of, to_dict

_SCHEMA = 1


def rule(code: str | None = None, *, json: bool = False) -> None:
    """Show a rule of the linter by its code or name; without one, list them all.

    Parameters
    ----------
    code
        AV101, or no-hints.
    json
        Print one JSON document.
    """
    found = all_rules() if code is None else (find_rule(code),)
    if json:
        print_json({"schema": _SCHEMA, "rules": [to_dict(rule_) for rule_ in found]})
    elif code is not None:
        out().print(page_of(found[0]), soft_wrap=True)
    else:
        _print_all()


def _print_all() -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("code", "name", "", "default", "what it finds"):
        table.add_column(name, overflow="fold")
    for entry in all_rules():
        default = "on" if entry.is_default else "off"
        table.add_row(entry.code, entry.name, str(entry.severity), default, entry.summary)
    out().print(table)
