from typing import Any

import anyio
import pytest
from mcp import Client

from sayso.demo.data import Database
from sayso.demo.migration import STEPS

pytestmark = pytest.mark.anyio

TOOL = "migrate_database"


def columns(database: Database) -> list[str]:
    with database.reading() as connection:
        return [row["name"] for row in connection.execute("PRAGMA table_info(customers)")]


async def report(client: Client, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(TOOL, arguments)
    assert not answer.is_error, answer.content
    assert isinstance(answer.structured_content, dict)
    return answer.structured_content


async def test_a_dry_run_lists_the_steps_and_changes_nothing(
    client: Client, database: Database
) -> None:
    plan = await report(client, dry_run=True)

    assert plan == {
        "status": "planned",
        "dryRun": True,
        "fromVersion": 1,
        "toVersion": 2,
        "steps": [step.what for step in STEPS],
        "message": "These steps would be run; nothing has been changed.",
    }
    assert "notes" in columns(database)


async def test_a_migration_moves_the_notes_and_tells_each_step(
    client: Client, database: Database
) -> None:
    before = await client.call_tool("customers_get", {"customer_id": 1})
    told: list[tuple[float, float | None, str | None]] = []
    all_told = anyio.Event()

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))
        if len(told) == total:
            all_told.set()

    answer = await client.call_tool(TOOL, progress_callback=tell)
    with anyio.fail_after(60):
        await all_told.wait()

    assert answer.structured_content is not None
    assert answer.structured_content["status"] == "migrated"
    assert sorted(told) == [
        (number, len(STEPS), f"Done: {step.what}.") for number, step in enumerate(STEPS, start=1)
    ]
    assert "notes" not in columns(database)
    after = await client.call_tool("customers_get", {"customer_id": 1})
    assert after.structured_content == before.structured_content


async def test_the_tools_work_on_a_migrated_database(client: Client) -> None:
    await report(client)

    created = await client.call_tool("customer_create", {"name": "Quince"})
    deleted = await client.call_tool("customer_delete", {"customer_id": 1})

    assert created.structured_content == {"customerId": 13, "name": "Quince", "created": True}
    assert deleted.structured_content is not None
    assert deleted.structured_content["deletedInvoices"] == 4


async def test_a_second_migration_has_nothing_to_do(client: Client) -> None:
    await report(client)

    for dry_run in (False, True):
        again = await report(client, dry_run=dry_run)
        assert again["status"] == "already_migrated"
        assert again["steps"] == []
        assert again["lastRun"].endswith(": Migrated to version 2.")


@pytest.mark.parametrize("pace", [3600.0])
async def test_a_migration_cancelled_midway_is_rolled_back_and_on_record(
    client: Client, database: Database, cancel_on_progress: Any
) -> None:
    with anyio.fail_after(60), anyio.CancelScope() as scope:
        await client.call_tool(TOOL, progress_callback=cancel_on_progress(scope))
    # The answer to the cancellation may be as fast as the cancellation itself.
    assert scope.cancel_called

    # Only one writes at a time: this comes after the rollback.
    await client.call_tool("customer_create", {"name": "Brindle & Oak Bakery"})
    plan = await report(client, dry_run=True)
    assert plan["status"] == "planned"
    assert plan["lastRun"].endswith(f": Cancelled after step 1 of {len(STEPS)}; rolled back.")
    assert "notes" in columns(database)
    with database.reading() as connection:
        tables = connection.execute("SELECT name FROM sqlite_master").fetchall()
    assert "notes" not in [row["name"] for row in tables]


async def test_a_broken_reference_stops_the_migration(
    client: Client, database: Database, said: Any
) -> None:
    with database.reading() as connection:
        connection.execute("COMMIT")
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("DELETE FROM customers WHERE id = 12")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("BEGIN")

    text = said(await client.call_tool(TOOL))

    assert "Row 25 of invoices refers to nothing; rolled back, nothing has changed." in text
    assert "notes" in columns(database)
