"""`sayso rule`: what a rule of the linter does and why, or a list of all of them."""

from sayso.cli.options import Json
from sayso.cli.terminal import make_table, out, print_document
from sayso.lint import all_rules, find_rule, page_of, to_dict


def rule(code: str | None = None, *, json: Json = False) -> None:
    """Show a rule of the linter by its code or name; without one, list them all.

    Parameters
    ----------
    code
        SS101, or no-hints.
    """
    found = all_rules() if code is None else (find_rule(code),)
    if json:
        print_document({"rules": [to_dict(entry) for entry in found]})
        return
    if code is not None:
        out().print(page_of(found[0]), soft_wrap=True)
        return
    table = make_table("code", "name", "", "default", "what it finds")
    for entry in found:
        default = "on" if entry.is_default else "off"
        table.add_row(entry.code, entry.name, str(entry.severity), default, entry.summary)
    out().print(table)
