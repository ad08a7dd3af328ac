"""The gateway as a systemd service of one user.

`unit` writes the unit file, `systemd` runs `systemctl --user`, and `change` moves from one state of
a unit to another: its file, enabled or not, running or not. If a step fails, it moves back.
"""

from typing import TYPE_CHECKING

from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.service.change import (
        Change,
        carry_out,
        commands,
        difference,
        plan_install,
        plan_removal,
    )
    from sayso.service.notify import notify_ready
    from sayso.service.place import Place, absolute, absolute_store
    from sayso.service.status import Status, read_status
    from sayso.service.systemd import Systemd, find_systemd
    from sayso.service.unit import Unit


__all__ = [
    "Change",
    "Place",
    "Status",
    "Systemd",
    "Unit",
    "absolute",
    "absolute_store",
    "carry_out",
    "commands",
    "difference",
    "find_systemd",
    "notify_ready",
    "plan_install",
    "plan_removal",
    "read_status",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.service.change": (
            "Change",
            "carry_out",
            "commands",
            "difference",
            "plan_install",
            "plan_removal",
        ),
        "sayso.service.notify": ("notify_ready",),
        "sayso.service.place": ("Place", "absolute", "absolute_store"),
        "sayso.service.status": ("Status", "read_status"),
        "sayso.service.systemd": ("Systemd", "find_systemd"),
        "sayso.service.unit": ("Unit",),
    },
)
