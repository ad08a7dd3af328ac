import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from sayso.connect import CommandTarget
from sayso.errors import UncontainedError
from sayso.sandbox.probe import check_layers, probe_layers
from sayso.sandbox.spec import SandboxSpec
from sayso.verify.call import Case
from sayso.verify.contained import ContainedEnvironment
from sayso.verify.options import Terms
from sayso.verify.run import verify
from sayso.verify.verdict import ToolReport

CLERK = Path(__file__).parent / "clerk.py"


@pytest.fixture(autouse=True)
async def contained() -> None:
    try:
        check_layers(await probe_layers(), is_uncontained=False)
    except UncontainedError as error:
        pytest.skip(str(error))


async def run(*only: str, calls: int = 1, **terms: Any) -> dict[str, ToolReport]:
    target = CommandTarget("clerk", sys.executable, (str(CLERK),))
    with anyio.fail_after(100):
        report = await verify(Terms(target=target, only=only, calls=calls, **terms))
    return {one.name: one for one in report.tools}


async def test_the_server_runs_where_cwd_says_and_with_the_variables_of_env(
    tmp_path: Path,
) -> None:
    (tmp_path / "inside.txt").write_text("hello")
    found = await run("where", cwd=str(tmp_path), env={"CLERK_TOKEN": "t0ken"})
    assert found["where"].made[0].text == f"{tmp_path} hello t0ken"
    assert found["where"].hints["read_only"].verdict == "supported"


@pytest.mark.parametrize(
    ("own", "verdict"), [((), "refuted"), (("~/clerk",), "supported")], ids=["user's", "own"]
)
async def test_what_own_names_refutes_nothing(own: tuple[str, ...], verdict: str) -> None:
    found = await run("read_ledger", "count_readings", own=own)
    assert found["read_ledger"].hints["read_only"].verdict == verdict


async def test_hints_give_what_cannot_be_guessed(tmp_path: Path) -> None:
    hints = tmp_path / "sayso.toml"
    hints.write_text('[verify.tools.unlock]\narguments = [{ phrase = "xyzzy" }]\n')
    found = await run("unlock", calls=2, hints=hints)
    verdict = found["unlock"].hints["read_only"]
    assert verdict.verdict == "refuted"
    assert verdict.arguments == {"phrase": "xyzzy"}
    assert [one.target for one in verdict.evidence] == ["/world/opened"]


async def test_without_strace_it_still_runs_where_no_containment_is_asked_for() -> None:
    layers = [
        replace(one, is_active=one.is_active and one.name != "syscalls")
        for one in await probe_layers()
    ]
    target = CommandTarget("clerk", sys.executable, (str(CLERK),))
    wish = SandboxSpec((target.command, *target.args), is_uncontained=True)
    contained = ContainedEnvironment(Terms(target=target), wish, layers)
    async with contained.start() as server:
        made = await server.call("read_ledger", Case({}))
    assert {one.target.rpartition("/")[2] for one in made.effects} == {"clerk", "readings"}
    assert [one.name for one in contained.observing if not one.is_active] == ["syscalls"]
