"""Containment for untrusted servers: `open_box` starts one, `probe_layers` finds what works."""

from typing import TYPE_CHECKING

from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.sandbox.box import open_box
    from sayso.sandbox.bpf import NOTIFY, Rule, Test, assemble, refuse, this_machine
    from sayso.sandbox.filter import shared_rules
    from sayso.sandbox.mount import Place, Role, place_of
    from sayso.sandbox.overlay import namespace_words
    from sayso.sandbox.prepare import prepare_by, prepare_fetched
    from sayso.sandbox.private import private_folder
    from sayso.sandbox.probe import check_layers, probe_layers
    from sayso.sandbox.programs import Programs, find_programs
    from sayso.sandbox.spec import CONTAINING, Box, Layer, Prepared, SandboxSpec
    from sayso.sandbox.start import ending_words


__all__ = [
    "CONTAINING",
    "NOTIFY",
    "Box",
    "Layer",
    "Place",
    "Prepared",
    "Programs",
    "Role",
    "Rule",
    "SandboxSpec",
    "Test",
    "assemble",
    "check_layers",
    "ending_words",
    "find_programs",
    "namespace_words",
    "open_box",
    "place_of",
    "prepare_by",
    "prepare_fetched",
    "private_folder",
    "probe_layers",
    "refuse",
    "shared_rules",
    "this_machine",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.sandbox.box": ("open_box",),
        "sayso.sandbox.bpf": ("NOTIFY", "Rule", "Test", "assemble", "refuse", "this_machine"),
        "sayso.sandbox.filter": ("shared_rules",),
        "sayso.sandbox.mount": ("Place", "Role", "place_of"),
        "sayso.sandbox.overlay": ("namespace_words",),
        "sayso.sandbox.prepare": ("prepare_by", "prepare_fetched"),
        "sayso.sandbox.private": ("private_folder",),
        "sayso.sandbox.probe": ("check_layers", "probe_layers"),
        "sayso.sandbox.programs": ("Programs", "find_programs"),
        "sayso.sandbox.spec": ("CONTAINING", "Box", "Layer", "Prepared", "SandboxSpec"),
        "sayso.sandbox.start": ("ending_words",),
    },
)
