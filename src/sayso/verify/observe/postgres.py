"""The observer of a PostgreSQL database.

Row changes come from logical decoding. The states of schema, sequences, unlogged tables,
materialised views, large objects and advisory locks are compared. `NOTIFY` and temporary tables
are invisible from outside. The observer needs `wal_level = logical` and a superuser. It makes every
table log whole rows, so use it only on the verifier's own server.
"""

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, LiteralString

from sayso.sandbox import Layer
from sayso.trace import Effect, Kind, Loss, Observer
from sayso.verify.observe.pgoutput import difference_of, net_changes, read_changes
from sayso.verify.observe.sqlite import row_effects

if TYPE_CHECKING:
    from psycopg import AsyncConnection

DETAIL: Final = (
    "rows by logical decoding; schema, sequences, unlogged tables, materialised views, large "
    "objects and advisory locks by comparing; not seen: NOTIFY, temporary tables, other databases"
)
SLOT: Final = "sayso_verify"

OPEN: Final[tuple[LiteralString, ...]] = (
    "CREATE SCHEMA sayso_verify",
    """CREATE FUNCTION sayso_verify.log_whole_rows() RETURNS event_trigger LANGUAGE plpgsql AS $$
    DECLARE one record;
    BEGIN
        FOR one IN
            SELECT c.oid::regclass AS name FROM pg_class c
            WHERE c.relkind IN ('r', 'p') AND c.relpersistence = 'p' AND c.relreplident <> 'f'
            AND c.relnamespace::regnamespace::text NOT IN ('pg_catalog', 'information_schema')
        LOOP
            EXECUTE format('ALTER TABLE %s REPLICA IDENTITY FULL', one.name);
        END LOOP;
    END $$""",
    """CREATE EVENT TRIGGER sayso_verify ON ddl_command_end
    WHEN TAG IN ('CREATE TABLE', 'CREATE TABLE AS', 'SELECT INTO')
    EXECUTE FUNCTION sayso_verify.log_whole_rows()""",
    "CREATE PUBLICATION sayso_verify FOR ALL TABLES",
    # Creating a table runs the trigger, which changes all existing tables.
    "CREATE TABLE sayso_verify.first (a int)",
    "SELECT pg_create_logical_replication_slot('sayso_verify', 'pgoutput')",
)
CLOSE: Final[tuple[LiteralString, ...]] = (
    "SELECT pg_drop_replication_slot('sayso_verify')",
    "DROP PUBLICATION sayso_verify",
    "DROP EVENT TRIGGER sayso_verify",
    "DROP SCHEMA sayso_verify CASCADE",
)
CHANGES: Final = (
    "SELECT data FROM pg_logical_slot_get_binary_changes('sayso_verify', NULL, NULL,"
    " 'proto_version', '1', 'publication_names', 'sayso_verify')"
)
KEYS: Final = """
    SELECT n.nspname || '.' || c.relname, array_agg(a.attname::text ORDER BY a.attnum)
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
    WHERE i.indisprimary GROUP BY 1
"""
OURS: Final = "('pg_catalog', 'information_schema', 'pg_toast', 'sayso_verify')"
SCHEMA: Final = f"""
    WITH mine AS (
        SELECT c.*, n.nspname || '.' || c.relname AS name
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname NOT IN {OURS} AND n.nspname !~ '^pg_(toast_)?temp_'
    )
    SELECT CASE relkind WHEN 'v' THEN 'view ' WHEN 'm' THEN 'view ' WHEN 'i' THEN 'index '
        WHEN 'S' THEN 'counter ' ELSE 'table ' END || name,
        concat_ws(' ', relkind, relpersistence, relacl::text, reloptions::text, relrowsecurity,
            CASE WHEN relkind IN ('v', 'm') THEN pg_get_viewdef(oid)
            WHEN relkind = 'i' THEN pg_get_indexdef(oid) END,
            (SELECT string_agg(concat_ws(' ', attname, atttypid::regtype, attnotnull,
                pg_get_expr(d.adbin, d.adrelid)), ',' ORDER BY attnum)
            FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid
                AND d.adnum = a.attnum
            WHERE a.attrelid = mine.oid AND attnum > 0 AND NOT attisdropped),
            (SELECT string_agg(conname || pg_get_constraintdef(k.oid), ',' ORDER BY conname)
            FROM pg_constraint k WHERE conrelid = mine.oid),
            (SELECT string_agg(pg_get_triggerdef(t.oid), ',' ORDER BY tgname)
            FROM pg_trigger t WHERE tgrelid = mine.oid AND NOT tgisinternal))
    FROM mine WHERE relkind <> 't'
    UNION ALL SELECT 'function ' || p.oid::regprocedure, md5(prosrc) || coalesce(proacl::text, '')
    FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace WHERE nspname NOT IN {OURS}
    UNION ALL SELECT 'schema ' || nspname, coalesce(nspacl::text, '') FROM pg_namespace
    WHERE nspname NOT IN {OURS} AND nspname !~ '^pg_(toast_)?temp_'
    UNION ALL SELECT 'type ' || t.oid::regtype,
        coalesce((SELECT string_agg(enumlabel, ',' ORDER BY enumsortorder) FROM pg_enum
        WHERE enumtypid = t.oid), '')
    FROM pg_type t JOIN pg_namespace n ON n.oid = typnamespace
    WHERE nspname NOT IN {OURS} AND nspname !~ '^pg_(toast_)?temp_' AND typtype IN ('e', 'd')
    UNION ALL SELECT 'extension ' || extname, extversion FROM pg_extension
    UNION ALL SELECT 'policy ' || polname || ' of ' || polrelid::regclass,
        concat_ws(' ', polcmd, pg_get_expr(polqual, polrelid)) FROM pg_policy
    UNION ALL SELECT 'role ' || rolname, md5(concat_ws(' ', r.*)) FROM pg_authid r
    WHERE rolname NOT LIKE 'pg\\_%'
"""
ASIDE: Final = """
    SELECT 'sequence ' || schemaname || '.' || sequencename, coalesce(last_value::text, 'unused')
    FROM pg_sequences
    UNION ALL SELECT 'advisory lock ' || concat_ws('.', classid, objid) || ' of ' || pid, mode
    FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()
    UNION ALL SELECT 'large object/' || loid, md5(string_agg(data, ''::bytea ORDER BY pageno))
    FROM pg_largeobject GROUP BY loid
"""
WHOLE: Final = """
    SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE (c.relkind = 'r' AND c.relpersistence = 'u') OR c.relkind = 'm'
"""

State = Mapping[str, str]


class PostgresWatcher:
    """A `Watcher` of one database. The targets of its effects begin with `name`."""

    def __init__(self, db: "AsyncConnection[Any]", name: str) -> None:
        self._db = db
        self._name = name
        self._state: tuple[State, State] | None = None
        self._pending: list[Effect] = []
        self.layer = Layer("postgres", is_active=True, detail=DETAIL)

    async def begin(self) -> None:
        self._pending += await self._look(0)

    async def end(self, call: int) -> Sequence[Effect]:
        effects = (*self._pending, *await self._look(call))
        self._pending = []
        return effects

    async def _look(self, call: int) -> list[Effect]:
        before = self._state
        messages = await self._rows(CHANGES)
        keys = {name: tuple(columns) for name, columns in await self._rows(KEYS)}
        schema: dict[str, str] = dict(await self._rows(SCHEMA))
        aside: dict[str, str] = dict(await self._rows(ASIDE)) | await self._whole()
        self._state = (schema, aside)
        if before is None:
            return []
        return [
            *_reforms(self._name, before[0], schema, call=call),
            *self._row_effects([bytes(message) for (message,) in messages], keys, call),
            *_aside(self._name, before[1], aside, call=call),
        ]

    def _row_effects(
        self, messages: Sequence[bytes], keys: Mapping[str, tuple[str, ...]], call: int
    ) -> Iterator[Effect]:
        for table, net in net_changes(read_changes(messages), keys).items():
            if table.startswith(f"{SLOT}."):
                continue
            target = f"{self._name}#{table}"
            if net.is_truncated:
                detail = "all rows at once, by TRUNCATE"
                target_all = f"{target}/*"
                yield _effect(Kind.REMOVE, target_all, detail, call=call, loss=Loss.LOST)
            found = difference_of(table, net, keys.get(table, ()))
            yield from row_effects(target, found, call=call, observer=Observer.POSTGRES)

    async def _whole(self) -> dict[str, str]:
        from psycopg import sql  # noqa: PLC0415 - an extra

        found: dict[str, str] = {}
        for schema, name in await self._rows(WHOLE):
            query = sql.SQL(
                "SELECT count(*) || ' rows, ' || md5(coalesce(string_agg(t::text, ','"
                " ORDER BY t::text), '')) FROM {} t"
            ).format(sql.Identifier(schema, name))
            cursor = await self._db.execute(query)
            row = await cursor.fetchone()
            found[f"{schema}.{name}/*"] = str(row[0]) if row else ""
        return found

    async def _rows(self, query: LiteralString) -> list[tuple[Any, ...]]:
        cursor = await self._db.execute(query)
        return await cursor.fetchall()


@asynccontextmanager
async def open_postgres(url: str, name: str = "postgres") -> AsyncGenerator[PostgresWatcher]:
    """Watch a database. Remove the added trigger, slot and schema on leaving.

    Raises `psycopg.Error` if the server does not allow this, such as with another `wal_level`.
    """
    import psycopg  # noqa: PLC0415 - an extra

    db = await psycopg.AsyncConnection[Any].connect(url, autocommit=True)
    async with db:
        for statement in OPEN:
            await db.execute(statement)
        try:
            yield PostgresWatcher(db, name)
        finally:
            for statement in CLOSE:
                await db.execute(statement)


def _effect(kind: Kind, target: str, detail: str, *, call: int, loss: Loss = Loss.NONE) -> Effect:
    return Effect(kind, target, Observer.POSTGRES, call, detail, loss=loss)


def _reforms(name: str, before: State, after: State, *, call: int) -> Iterator[Effect]:
    for thing in sorted(before.keys() | after.keys()):
        if before.get(thing) == after.get(thing):
            continue
        target = f"{name}#{thing}"
        if thing not in after:
            loss = Loss.LOST if thing.startswith("table ") else Loss.NONE
            yield _effect(Kind.SCHEMA, target, "dropped", call=call, loss=loss)
        else:
            detail = "altered" if thing in before else "created"
            yield _effect(Kind.SCHEMA, target, detail, call=call)


def _aside(name: str, before: State, after: State, *, call: int) -> Iterator[Effect]:
    for thing in sorted(before.keys() | after.keys()):
        old = before.get(thing)
        new = after.get(thing)
        if old == new:
            continue
        kind = Kind.INSERT if old is None else Kind.REMOVE if new is None else Kind.UPDATE
        is_data = not thing.startswith(("sequence ", "advisory lock "))
        loss = _aside_loss(kind, old, new) if is_data else Loss.NONE
        detail = " → ".join(state.partition(", ")[0] for state in (old, new) if state is not None)
        yield _effect(kind, f"{name}#{thing}", detail, call=call, loss=loss)


def _aside_loss(kind: Kind, old: str | None, new: str | None) -> Loss:
    if kind is Kind.REMOVE:
        return Loss.LOST
    if kind is Kind.INSERT or old is None or new is None:
        return Loss.NONE
    counts = [state.partition(" rows, ")[0] for state in (old, new)]
    if all(count.isdecimal() for count in counts):
        return Loss.LOST if int(counts[1]) < int(counts[0]) else Loss.UNKNOWN
    return Loss.OVERWROTE
