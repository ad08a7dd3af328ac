"""The box in which an untrusted server runs."""

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
from sayso.sandbox.limits import describe_limits, enforce_limits
from sayso.sandbox.private import private_folder
from sayso.sandbox.probe import check_layers
from sayso.sandbox.programs import find_programs
from sayso.sandbox.root import SYSTEM_PATH
from sayso.sandbox.spec import Box, Layer, Prepared, SandboxSpec
from sayso.sandbox.start import box_words, environment_inside, write_start
from sayso.sandbox.uncontained import make_uncontained

__all__ = ["Box", "Prepared", "SandboxSpec", "open_box"]


@asynccontextmanager
async def open_box(spec: SandboxSpec, probed: Sequence[Layer]) -> AsyncGenerator[Box]:
    """Make a box from the layers that work here, and remove its folder and mounts on leaving.

    The caller must end the server before leaving, for example by closing its connection of
    `sayso.connect`. If sayso is killed, the box's processes, mounts and folder are removed too.

    Raises `UncontainedError` if a required layer is missing, `CommandNotFoundError` if the command
    does not exist, and `UsageError` for an invalid fixture or address.
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
            *(layout, words, programs),
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
        return replace(probed, is_active=False, detail="the command has no package folder")
    if probed.name == "network" and spec.allowed:
        return replace(probed, detail=f"{probed.detail}, and {', '.join(spec.allowed)}")
    return probed
