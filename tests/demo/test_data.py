import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier

import pytest

from sayso.demo import data
from sayso.demo.data import Database, open_database
from sayso.demo.schema import APPLICATION_ID
from sayso.demo.seed import CUSTOMERS, INVOICES
from sayso.errors import StoreError


def count(database: Database, table: str) -> int:
    with database.reading() as connection:
        return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608 - the test's own words


def test_a_new_database_holds_the_studio(database: Database) -> None:
    assert count(database, "customers") == len(CUSTOMERS) == 12
    assert count(database, "invoices") == len(INVOICES) == 25
    assert count(database, "outbox") == sum(one.status != "draft" for one in INVOICES)


def test_two_new_databases_are_alike(tmp_path: Path) -> None:
    def dump(path: Path) -> list[str]:
        with open_database(path), closing(sqlite3.connect(path)) as connection:
            return list(connection.iterdump())

    assert dump(tmp_path / "one.db") == dump(tmp_path / "two.db")


def test_a_database_without_a_file_ends_with_its_context() -> None:
    with open_database() as database:
        assert count(database, "customers") == 12
        folder = database.path.parent

    assert not folder.exists()


def test_what_was_written_is_there_when_the_file_is_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "studio.db"
    with open_database(path) as database, database.writing() as connection:
        connection.execute("DELETE FROM customers WHERE id = 1")

    with open_database(path) as database:
        assert count(database, "customers") == 11


def test_a_transaction_that_raises_changes_nothing(database: Database) -> None:
    def delete_and_fail() -> None:
        with database.writing() as connection:
            connection.execute("DELETE FROM customers")
            raise KeyError

    with pytest.raises(KeyError):
        delete_and_fail()

    assert count(database, "customers") == 12


def test_a_reader_sees_one_state_while_another_writes(database: Database) -> None:
    with database.reading() as reader:
        before = reader.execute("SELECT count(*) FROM customers").fetchone()[0]
        with database.writing() as writer:
            writer.execute("DELETE FROM customers WHERE id = 1")
        after = reader.execute("SELECT count(*) FROM customers").fetchone()[0]

    assert before == after == 12


def test_an_invoice_needs_its_customer(database: Database) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"), database.writing() as writer:
        writer.execute(
            "INSERT INTO invoices (customer_id, description, amount_cents) VALUES (99, 'x', 1)"
        )


def test_money_is_a_whole_number_of_cents(database: Database) -> None:
    with pytest.raises(sqlite3.IntegrityError), database.writing() as writer:
        writer.execute("UPDATE invoices SET amount_cents = 12.5 WHERE id = 1")


def test_a_writer_that_finds_another_waits_and_then_says_so(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "BUSY_SECONDS", 0.01)
    with (
        database.writing(),
        pytest.raises(StoreError, match=r"studio\.db: the database is busy.*try again"),
        database.writing(),
    ):
        pass


def test_several_that_open_a_new_file_at_once_make_one_database(tmp_path: Path) -> None:
    together = Barrier(4)

    def open_and_count(_: int) -> int:
        together.wait(60)
        with open_database(tmp_path / "studio.db") as database:
            return count(database, "customers")

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(open_and_count, range(4))) == [12] * 4


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Not a database, only some text that is long enough to look at." * 10)

    with pytest.raises(StoreError, match=r"notes\.txt: the database cannot be opened") as refused:
        open_database(path).__enter__()

    assert refused.value.exit_code == 4
    assert path.read_text().startswith("Not a database")


def test_the_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE birds (name TEXT)")
    before = path.read_bytes()

    with pytest.raises(StoreError, match=r"other\.db: the database belongs to another program"):
        open_database(path).__enter__()

    assert path.read_bytes() == before


def test_a_database_of_a_later_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "later.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE customers (id INTEGER)")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 3")

    with pytest.raises(StoreError, match="unsupported database version 3"):
        open_database(path).__enter__()


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        StoreError, match=r"nowhere/studio\.db: the database cannot be opened: unable to open"
    ):
        open_database(tmp_path / "nowhere" / "studio.db").__enter__()
