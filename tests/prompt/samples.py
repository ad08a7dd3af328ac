"""Tools of one made-up server, for the tests of the prompt."""

from typing import Any

from hypothesis import strategies as st

from sayso.catalog import Tool, make_tool
from sayso.intent import WIRE_NAMES, Hints
from sayso.policy import Policy, load_policy

READ = Hints(read_only=True, open_world=False)
FETCH = Hints(read_only=True, open_world=True)
WRITE = Hints(read_only=False, destructive=False, idempotent=True, open_world=False)
APPEND = Hints(read_only=False, destructive=False, idempotent=False, open_world=False)
DELETE = Hints(read_only=False, destructive=True, idempotent=True, open_world=False)

TRUSTING = load_policy('[trust]\n"*" = "trusted"')
"""What a description says changes no hint under it."""


def tool(name: str, hints: Hints, description: Any = None, **more: Any) -> Tool:
    """A tool of the server `crm`, or of another."""
    wire = {key: hints[hint] for hint, key in WIRE_NAMES.items() if hints[hint] is not None}
    raw = {"name": name, "annotations": wire, "description": description, **more}
    return make_tool(more.pop("server", "crm"), raw)


CRM = (
    tool("customer_delete", DELETE, "Delete a customer. This cannot be undone."),
    tool("customer_create", WRITE, "Create a customer of this name."),
    tool("customers_list", READ, "List the customers."),
    tool("web_search", FETCH, "Search the web."),
    tool("note_add", APPEND, "Add a note to a customer."),
)

TOOLS = st.lists(
    st.builds(
        tool,
        st.text(min_size=1, max_size=20).filter(lambda text: text.isprintable()),
        st.sampled_from([READ, FETCH, WRITE, APPEND, DELETE]),
        st.text(max_size=60),
        title=st.none() | st.text(max_size=20).filter(lambda text: text.isprintable()),
    ),
    max_size=6,
)


def by_rule(effect: str, when: str) -> Policy:
    """A policy of one rule."""
    return load_policy(f'[[rules]]\nname = "r"\neffect = "{effect}"\nwhen = {{ {when} }}')
