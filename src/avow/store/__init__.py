"""What lasts: records and questions, behind one interface."""

from avow.store.interface import Finish, Note, Seal, Store
from avow.store.location import is_postgres, open_store, store_path
from avow.store.rows import ApprovalRow, ApprovalState, Head, RecordRow, WriterRow, storable

__all__ = [
    "ApprovalRow",
    "ApprovalState",
    "Finish",
    "Head",
    "Note",
    "RecordRow",
    "Seal",
    "Store",
    "WriterRow",
    "is_postgres",
    "open_store",
    "storable",
    "store_path",
]
