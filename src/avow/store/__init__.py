"""What lasts: records and questions, behind one interface."""

from avow.store.interface import Store
from avow.store.location import open_store, store_path
from avow.store.rows import ApprovalRow, ApprovalState, RecordRow

__all__ = ["ApprovalRow", "ApprovalState", "RecordRow", "Store", "open_store", "store_path"]
