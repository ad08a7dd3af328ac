"""What lasts: records and questions, behind one interface."""

from avow.store.claims import Claim
from avow.store.interface import Asked, Commit, Finish, LogView, Note, Seal, Store
from avow.store.lines import LOWEST_SEQ
from avow.store.location import database_host, is_postgres, open_store, store_path
from avow.store.past import Lapse, Look, Past, Quota, Tick, Use, UseRow
from avow.store.questions import Said
from avow.store.rows import (
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
from avow.store.sieve import Sieve

__all__ = [
    "LOWEST_SEQ",
    "AnswerRow",
    "ApiKeyRow",
    "ApprovalRow",
    "ApprovalState",
    "Asked",
    "Claim",
    "Commit",
    "DefinitionRow",
    "Finish",
    "GrantRow",
    "Head",
    "Known",
    "Lapse",
    "LogView",
    "Look",
    "Note",
    "Past",
    "QuarantineRow",
    "Quota",
    "RecordRow",
    "ReplicaRow",
    "Said",
    "Seal",
    "Sieve",
    "Store",
    "Tick",
    "Use",
    "UseRow",
    "WriterRow",
    "database_host",
    "is_postgres",
    "open_store",
    "storable",
    "store_path",
]
