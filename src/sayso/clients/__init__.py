"""Clients' configurations: put sayso in front of their servers, and remove it again.

`choice` decides which servers move behind sayso, and why others stay. `splice` edits the text and
checks the result, so that all other bytes stay the same. Files are written in this order: a backup,
the gateway's copy, the record, and last the client's file, atomically. A second install starts from
the file without sayso. `tests/clients/test_crash.py` kills an install at every write.
"""

from typing import TYPE_CHECKING

from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.clients.choice import Selection, sorted_reasons
    from sayso.clients.discovery import discover, pick
    from sayso.clients.install import (
        Plan,
        Removal,
        carry_out,
        plan_install,
        plan_removal,
        program,
        remove,
    )
    from sayso.clients.kinds import client_of
    from sayso.clients.masked import difference
    from sayso.clients.places import Machine
    from sayso.clients.record import Record, alone, records
    from sayso.clients.swap import keep, read, replace


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
    "keep",
    "pick",
    "plan_install",
    "plan_removal",
    "program",
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
            "program",
            "remove",
        ),
        "sayso.clients.kinds": ("client_of",),
        "sayso.clients.places": ("Machine",),
        "sayso.clients.record": ("Record", "alone", "records"),
        "sayso.clients.masked": ("difference",),
        "sayso.clients.swap": ("keep", "read", "replace"),
    },
)
