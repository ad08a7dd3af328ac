"""A box: where a server that nobody knows runs, and how it is started there."""

import functools
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio

from sayso.beside import beside
from sayso.sandbox.forward import Gate, check_address, forward, make_gate
from sayso.sandbox.layout import Layout, lay_out
from sayso.sandbox.limits import describe_limits
from sayso.sandbox.private import private_folder
from sayso.sandbox.probe import check_layers
from sayso.sandbox.programs import find_programs
from sayso.sandbox.root import SYSTEM_PATH
from sayso.sandbox.spec import Box, Layer, Prepared, SandboxSpec
from sayso.sandbox.start import box_words, environment_inside, write_start
from sayso.sandbox.uncontained import make_uncontained
from sayso.sandbox.watchdog import enforce_limits

__all__ = ["Box", "Prepared", "SandboxSpec", "open_box"]


@asynccontextmanager
async def open_box(spec: SandboxSpec, probed: Sequence[Layer]) -> AsyncGenerator[Box]:
    """Make a box with the layers that were found to work; on leaving, all of it is gone.

    End what runs in it before leaving: `sayso.connect` does, when its connection is closed. However
    sayso ends, its box's processes end with it, mounts go with these, and the folder is removed.

    Raises `UncontainedError` where a layer is missing, `CommandNotFoundError` for a command that
    is not there, and `UsageError` for a fixture or an address that cannot be had.
    """
    check_layers(probed, is_uncontained=spec.is_uncontained)
    addresses = [check_address(address) for address in spec.allowed]
    async with private_folder() as folder:
        gate: Gate | None = None
        works: list[Callable[[], Coroutine[Any, Any, None]]] = []
        if addresses and not spec.is_uncontained:
            gate = make_gate(folder)
            works.append(functools.partial(forward, gate, addresses))
        box = await anyio.to_thread.run_sync(_make_box, spec, folder, probed, gate)
        if not spec.is_uncontained:
            works.append(
                functools.partial(enforce_limits, folder, spec.limits, box.overruns.append)
            )
        async with beside(*works):
            yield box


def _make_box(spec: SandboxSpec, folder: Path, probed: Sequence[Layer], gate: Gate | None) -> Box:
    active = {layer.name for layer in probed if layer.is_active}
    programs = find_programs()
    trace = folder / "trace" if "syscalls" in active else None
    if spec.is_uncontained:
        return make_uncontained(spec, folder, probed, programs=programs, trace=trace)
    layout = lay_out(spec, folder, has_overlay="overlay" in active)
    environment = environment_inside(layout.home, layout.root.search, spec.env)
    words = box_words(layout, environment, programs)
    return Box(
        command=write_start(
            layout,
            words,
            programs,
            limits=spec.limits,
            trace=trace,
            gate=gate,
            is_filtered="filter" in active,
        ),
        env={"PATH": SYSTEM_PATH},
        cwd="/",
        places=tuple(layout.places),
        layers=tuple(_layer(layer, layout, spec) for layer in probed),
        trace=trace,
        home=layout.home,
        world=layout.world,
        server=layout.root.command,
        notes=tuple(layout.notes),
    )


def _layer(probed: Layer, layout: Layout, spec: SandboxSpec) -> Layer:
    if not probed.is_active:
        return probed
    if probed.name == "limits":
        return replace(probed, detail=describe_limits(spec.limits))
    if probed.name == "overlay" and not layout.overlays:
        return replace(probed, is_active=False, detail="the command needs no folder of its own")
    if probed.name == "network" and spec.allowed:
        return replace(probed, detail=f"{probed.detail}, and {', '.join(spec.allowed)}")
    return probed
