"""One verification from beginning to end: prepare, explore, confirm, judge, report."""

import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import anyio

from sayso.connect import (
    BYTECODE,
    NO_FOREIGN_BYTECODE,
    CommandTarget,
    describe_installed,
    describe_package,
    steering,
)
from sayso.errors import UnreachableError, UsageError
from sayso.sandbox import (
    Layer,
    Prepared,
    SandboxSpec,
    check_layers,
    prepare_by,
    prepare_fetched,
    private_folder,
    probe_layers,
)
from sayso.verify.contained import ContainedEnvironment
from sayso.verify.database import Postgres, serve_postgres
from sayso.verify.event import Ended, Phase
from sayso.verify.inputs.code import constants_of
from sayso.verify.inputs.hints import read_hints
from sayso.verify.inputs.world import INSIDE, make_world, serve_world
from sayso.verify.options import ObjectTarget, Terms
from sayso.verify.session import Session, Tell, say_nothing
from sayso.verify.verdict import Report

_NO_RECEIPT: Final = "--receipt needs a known package, but other code may run"
_FIX: Final = "Follow “What the digest covers” in docs/guides/receipts.md, or leave out --receipt."


async def verify(terms: Terms, tell: Tell = say_nothing) -> Report:
    """Run the tools of a server and return the report; `tell` gets the events.

    Cancelling ends the server and removes everything. Raises `UncontainedError` without
    containment, an `UnreachableError` if the server cannot be started, and `UsageError` for
    unsuitable options.
    """
    target = terms.target
    if isinstance(target, ObjectTarget):
        raise UsageError("verify cannot contain a server object", fix="Use verify_here(server).")
    if not isinstance(target, CommandTarget):
        if terms.needs_package:
            what = "--receipt needs a known package, which a URL does not show"
            raise UsageError(what, where=target.name, fix="Verify the command that serves it.")
        from sayso.verify.remote import verify_remote  # noqa: PLC0415 - only for URLs

        return await verify_remote(terms, target, tell)
    hints = read_hints(terms.hints)
    layers = await probe_layers()
    check_layers(layers, is_uncontained=terms.is_uncontained)
    started = time.perf_counter()
    async with AsyncExitStack() as stack:
        folder = await stack.enter_async_context(private_folder("verify"))
        world = await anyio.to_thread.run_sync(make_world, folder / "world")
        site = stack.enter_context(serve_world())
        tell(Phase("prepare"))
        original = target
        postgres = None
        if terms.has_postgres:
            postgres, target = await _with_postgres(stack, target)
        prepared = await _prepare(terms, target, folder, layers)
        started_target = replace(original, env={**original.env, **terms.env})
        described = await anyio.to_thread.run_sync(_package, started_target, prepared)
        if terms.needs_package and not described:
            raise UsageError(_NO_RECEIPT, where=target.name, fix=_FIX)
        # A receipt covers source files, so bytecode from elsewhere must not run instead of them.
        compiled = NO_FOREIGN_BYTECODE if BYTECODE in described else {}
        package = {name: value for name, value in described.items() if name != BYTECODE}
        served = [each.address for each in (site, postgres) if each]
        spec = SandboxSpec(
            command=(target.command, *target.args),
            env={**target.env, **terms.env, **compiled},
            cwd=terms.cwd or target.cwd or INSIDE,
            fixtures=terms.fixtures,
            worlds=((INSIDE, world.folder),),
            own=(*terms.own, *hints.own),
            allowed=(*terms.allowed, *hints.allow, *served),
            is_uncontained=terms.is_uncontained,
            prepared=prepared,
        )
        constants = await anyio.to_thread.run_sync(constants_of, original, prepared)
        world = replace(world.with_site(site), constants=constants)
        contained = ContainedEnvironment(terms, spec, layers, site, postgres)
        session = Session(terms, tell, contained, hints=hints, world=world)
        report = await _report(session, contained, _unscripted(prepared))
    report = replace(report, seconds=time.perf_counter() - started, package=package)
    tell(Ended(report))
    return report


async def _report(session: Session, contained: ContainedEnvironment, unscripted: str) -> Report:
    """Run the session; say which install scripts did not run, in the report or in the error."""
    contained.notes = (unscripted,) if unscripted else ()
    try:
        return await session.run()
    except UnreachableError as error:
        error.fix = error.fix or unscripted or None
        raise


def _package(target: CommandTarget, prepared: Prepared | None) -> Mapping[str, Any]:
    """Return the package as the gateway describes it before a start, or {} if it is uncertain."""
    if prepared is None:
        return describe_package(target) or {}
    if not prepared.kind or steering(target.env):
        return {}
    return describe_installed(prepared.kind, prepared.name, prepared.folder) or {}


def _unscripted(prepared: Prepared | None) -> str:
    """Return a sentence on the packages whose install scripts did not run, or ""."""
    if prepared is None or not prepared.unscripted:
        return ""
    names = ", ".join(prepared.unscripted)
    return f"Install scripts did not run ({names}); --install-scripts runs them in a sandbox."


async def _with_postgres(
    stack: AsyncExitStack, target: CommandTarget
) -> tuple[Postgres, CommandTarget]:
    postgres = await stack.enter_async_context(serve_postgres())
    command, *args = postgres.placed((target.command, *target.args))
    env = {**postgres.variables, **target.env}
    return postgres, replace(target, command=command, args=tuple(args), env=env)


async def _prepare(
    terms: Terms, target: CommandTarget, folder: Path, layers: Sequence[Layer]
) -> Prepared | None:
    command = (target.command, *target.args)
    into = folder / "prepared"
    into.mkdir()
    if terms.prepare:
        project = Path(terms.cwd) if terms.cwd else None
        return await prepare_by(terms.prepare, into, command, layers=layers, project=project)
    runs_scripts = terms.runs_install_scripts
    prepared = await prepare_fetched(command, into, layers=layers, runs_scripts=runs_scripts)
    if runs_scripts and (prepared is None or prepared.kind != "npm"):
        fix = "Use --prepare CMD, which may run scripts."
        raise UsageError("--install-scripts needs a server that npx starts", fix=fix)
    return prepared
