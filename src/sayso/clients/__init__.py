"""Clients' configurations: putting sayso in front of their servers, and taking it out again.

`choice` decides which servers move, each with a reason; `splice` edits the text and reads its own
result again, so that all else stays the same bytes. Files are written in one order: the original,
the gateway's copy, the record, and last the client's file, in one step. Installing again works on
the file as it would be without sayso. `tests/clients/test_crash.py` ends it at every write.
"""

from typing import TYPE_CHECKING

from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.clients.choice import Selection, sorted_reasons
    from sayso.clients.discovery import discover, pick
    from sayso.clients.install import Plan, Removal, carry_out, plan_install, plan_removal, remove
    from sayso.clients.kinds import client_of
    from sayso.clients.masked import difference
    from sayso.clients.places import Machine
    from sayso.clients.record import Record, alone, records
    from sayso.clients.swap import read, replace


__all__ = [
    "Machine",
    "Plan",
    "Record",
    "Removal",
    "Selection",
    "alone",
    "carry_out",
    "client_of",
    "difference",
    "discover",
    "pick",
    "plan_install",
    "plan_removal",
    "read",
    "records",
    "remove",
    "replace",
    "sorted_reasons",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.clients.choice": ("Selection", "sorted_reasons"),
        "sayso.clients.discovery": ("discover", "pick"),
        "sayso.clients.install": (
            "Plan",
            "Removal",
            "carry_out",
            "plan_install",
            "plan_removal",
            "remove",
        ),
        "sayso.clients.kinds": ("client_of",),
        "sayso.clients.places": ("Machine",),
        "sayso.clients.record": ("Record", "alone", "records"),
        "sayso.clients.masked": ("difference",),
        "sayso.clients.swap": ("read", "replace"),
    },
)
