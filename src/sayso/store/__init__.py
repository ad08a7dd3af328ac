"""The database of all durable data. Each subject, such as grants, has its own class and tables.

`open_store` returns the whole database; other classes get only the subjects that they use. A
transaction over several subjects is a method of one of them: of `Records` if it is mainly about
records (`begin`, `take_over`, `erase`, `prune`), else of the subject that it changes. That method
adds the record of the change with `store.recording`. SQLite and PostgreSQL share all code except
the drivers.

Each process writes to a database in one thread, and writes that arrive meanwhile share its next
commit (`group`). Records are never changed, except that `erase` removes their payloads and
subjects; only `prune` deletes them. Answering a question and using an approval are conditional
updates, so each happens only once, even with several processes. A unique index allows one open
question per binding. `usage` stores which tools each caller has used, in tables that grow with the
tools, not with the calls. The transaction of an attempt writes it, counts the call against the
limits, and checks that the grant is still valid.
"""

from typing import TYPE_CHECKING

from sayso.lazy import lazily
from sayso.store.apikeys import ApiKeys
from sayso.store.claims import Claim, Claims
from sayso.store.definitions import Definitions
from sayso.store.grants import Grants
from sayso.store.location import database_host, is_postgres, open_store, store_path
from sayso.store.prefilter import Prefilter
from sayso.store.quarantines import Quarantines
from sayso.store.questions import Asked, Questions
from sayso.store.recording import LOWEST_SEQ, LogView, Seal
from sayso.store.replicas import Replicas
from sayso.store.rows import (
    AnswerRow,
    ApiKeyRow,
    ApprovalRow,
    ApprovalState,
    DefinitionRow,
    GrantRow,
    Head,
    Known,
    QuarantineRow,
    RecordRow,
    ReplicaRow,
    WriterRow,
    storable,
)
from sayso.store.tokens import Tokens
from sayso.store.usage import Lapse, Look, Quota, Tick, Usage, Use, UseRow

if TYPE_CHECKING:
    from sayso.store.database import Database, move_store
    from sayso.store.group import Commit
    from sayso.store.location import VARIABLE
    from sayso.store.migrations import VERSION
    from sayso.store.records import Records
    from sayso.store.snapshot import (
        Status,
        check_empty,
        copy_store,
        fill_store,
        read_status,
    )


__all__ = [
    "LOWEST_SEQ",
    "VARIABLE",
    "VERSION",
    "AnswerRow",
    "ApiKeyRow",
    "ApiKeys",
    "ApprovalRow",
    "ApprovalState",
    "Asked",
    "Claim",
    "Claims",
    "Commit",
    "Database",
    "DefinitionRow",
    "Definitions",
    "GrantRow",
    "Grants",
    "Head",
    "Known",
    "Lapse",
    "LogView",
    "Look",
    "Prefilter",
    "QuarantineRow",
    "Quarantines",
    "Questions",
    "Quota",
    "RecordRow",
    "Records",
    "ReplicaRow",
    "Replicas",
    "Seal",
    "Status",
    "Tick",
    "Tokens",
    "Usage",
    "Use",
    "UseRow",
    "WriterRow",
    "check_empty",
    "copy_store",
    "database_host",
    "fill_store",
    "is_postgres",
    "move_store",
    "open_store",
    "read_status",
    "storable",
    "store_path",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.store.database": ("Database", "move_store"),
        "sayso.store.group": ("Commit",),
        "sayso.store.location": ("VARIABLE",),
        "sayso.store.migrations": ("VERSION",),
        "sayso.store.records": ("Records",),
        "sayso.store.snapshot": (
            "Status",
            "check_empty",
            "copy_store",
            "fill_store",
            "read_status",
        ),
    },
)
