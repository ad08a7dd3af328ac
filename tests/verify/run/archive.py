"""A server whose tools accept little: bare names, folders, its own tables, what was made before."""

import sqlite3
from pathlib import Path

import speaker

SHELF = Path.home() / "shelf"
DATA = sqlite3.connect(":memory:")
DATA.execute("CREATE TABLE parcels (weight)")
DRAFTS: set[str] = set()
REGISTERED: set[str] = set()
INDEXED: set[str] = set()


def store_page(file_name: str, content: str) -> str:
    """Store a page."""
    if "/" in file_name:
        raise ValueError(f"Invalid file_name: {file_name} contains path segments")
    SHELF.mkdir(exist_ok=True)
    (SHELF / file_name).write_text(content)
    return "stored"


def read_page(file_name: str) -> str:
    """Read a stored page."""
    if not (SHELF / file_name).is_relative_to(SHELF):
        raise ValueError("Absolute paths are refused")
    return (SHELF / file_name).read_text()


def measure(path: str) -> str:
    """Count the entries at a path."""
    if not Path(path).is_dir():
        raise NotADirectoryError(f"{path} is not a directory")
    return str(len(list(Path(path).iterdir())))


def run_query(sql: str) -> str:
    """Run a SQL query."""
    return str(DATA.execute(sql).fetchall())


def open_draft(draft: str) -> str:
    """Open a draft that was saved."""
    if draft not in DRAFTS:
        raise LookupError("no such draft")
    return "words"


def save_draft(title: str) -> str:
    """Save a draft."""
    DRAFTS.add(title)
    return "saved"


def find_symbol(project: str) -> str:
    """Find a symbol in an indexed project."""
    if project not in INDEXED:
        raise LookupError("no index. Call index_project first.")
    return "found"


def index_project(project: str) -> str:
    """Index a registered project."""
    if project not in REGISTERED:
        raise LookupError("unknown project. Call set_project_root first.")
    INDEXED.add(project)
    return "indexed"


def set_project_root(name: str, root: str) -> str:
    """Register a project with its folder."""
    if not Path(root).is_dir():
        raise ValueError("root must be a directory")
    REGISTERED.add(name)
    return "registered"


TOOLS = (
    *(store_page, read_page, measure, run_query, open_draft, save_draft),
    *(find_symbol, index_project, set_project_root),
)
speaker.serve({tool.__name__: (tool, {}) for tool in TOOLS})
