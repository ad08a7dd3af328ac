"""Known functions and methods of Python and common libraries, with their effects."""

from collections.abc import Mapping
from typing import Final

from sayso.source.report import Kind

W = Kind.WRITES_FILE
D = Kind.DELETES_FILE

# The kind, and the position of the argument that names the target (-1: the object itself).
FUNCTIONS: Final[Mapping[str, tuple[Kind, int]]] = {
    **{f"os.{name}": (D, 0) for name in ("remove", "unlink", "rmdir", "removedirs")},
    **{f"os.{name}": (W, 1) for name in ("rename", "renames", "replace", "symlink", "link")},
    **{
        f"os.{name}": (W, 0)
        for name in ("mkdir", "makedirs", "chmod", "chown", "lchown", "truncate", "utime", "mkfifo")
    },
    **{f"aiofiles.os.{name}": (D, 0) for name in ("remove", "unlink", "rmdir", "removedirs")},
    **{f"aiofiles.os.{name}": (W, 1) for name in ("rename", "renames", "replace")},
    **{f"aiofiles.os.{name}": (W, 0) for name in ("mkdir", "makedirs")},
    "shutil.rmtree": (D, 0),
    **{f"shutil.{name}": (W, 1) for name in ("copy", "copy2", "copyfile", "copytree", "move")},
    **{f"shutil.{name}": (W, 0) for name in ("make_archive", "chown")},
    "shutil.unpack_archive": (W, 1),
    "urllib.request.urlretrieve": (W, 1),
    **{f"os.{name}": (Kind.SIGNALS, 0) for name in ("kill", "killpg", "abort")},
    **{f"builtins.{name}": (Kind.EVALUATES, 0) for name in ("eval", "exec")},
    **{f"runpy.{name}": (Kind.EVALUATES, 0) for name in ("run_path", "run_module")},
}

OPENERS: Final = frozenset(
    """
    builtins.open io.open codecs.open os.fdopen aiofiles.open anyio.open_file gzip.open bz2.open
    lzma.open zipfile.ZipFile tarfile.open tarfile.TarFile.open tarfile.TarFile gzip.GzipFile
    wave.open h5py.File
    """.split()
)
"""Functions that open a file, with the mode as second argument."""

PATHS: Final = frozenset({"pathlib.Path", "pathlib.PosixPath", "anyio.Path", "aiopath.AsyncPath"})
PATH_METHODS: Final[Mapping[str, tuple[Kind, int]]] = {
    **dict.fromkeys(
        """
        write_text write_bytes mkdir touch chmod lchmod symlink_to hardlink_to
        """.split(),
        (W, -1),
    ),
    **dict.fromkeys(("rename", "replace", "copy", "copy_into", "move", "move_into"), (W, 0)),
    **dict.fromkeys(("unlink", "rmdir"), (D, -1)),
}
PATH_TO_PATH: Final = frozenset(
    """
    absolute expanduser joinpath parent relative_to resolve with_name with_stem with_suffix
    """.split()
)
PASS_ON: Final = frozenset(
    """
    builtins.str os.fspath os.path.abspath os.path.dirname os.path.expanduser os.path.expandvars
    os.path.normpath os.path.realpath os.path.join sqlalchemy.text sqlalchemy.sql.text
    textwrap.dedent inspect.cleandoc psycopg.sql.SQL typing.cast
    """.split()
)
"""Functions that return their argument in another form."""

# Methods with the same effect on any object, with the position of the target.
METHODS: Final[Mapping[str, tuple[Kind, int | None]]] = {
    "write_text": (W, -1),
    "write_bytes": (W, -1),
    **dict.fromkeys(("to_csv", "to_excel", "to_parquet", "to_pickle", "to_feather"), (W, 0)),
    **dict.fromkeys(
        """
        insert_one insert_many update_one update_many replace_one bulk_write put_object upload_file
        upload_fileobj put_item batch_write_item update_item to_sql find_one_and_update
        find_one_and_replace bulk_create bulk_update get_or_create update_or_create
        """.split(),
        (Kind.WRITES_ROWS, None),
    ),
    **dict.fromkeys(
        """
        delete_one delete_many drop_collection drop_database delete_object delete_objects
        delete_item find_one_and_delete delete_bucket drop_table truncate_table
        """.split(),
        (Kind.DELETES_ROWS, None),
    ),
}

SPAWNERS: Final = frozenset(
    """
    subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen
    subprocess.getoutput subprocess.getstatusoutput os.system os.popen os.execv os.execve os.execvp
    os.execl os.execlp os.spawnv os.spawnl os.spawnvp os.spawnlp os.posix_spawn os.startfile
    asyncio.create_subprocess_exec asyncio.create_subprocess_shell anyio.run_process
    anyio.open_process trio.run_process pty.spawn pexpect.spawn pexpect.run
    """.split()
)
READING_PROGRAMS: Final[Mapping[str, frozenset[str] | None]] = {
    **dict.fromkeys(
        """
        cat date df dmesg du ffprobe file free grep head hostname id jq ls lsblk lscpu lsof md5sum
        nproc ping pgrep ps pwd readlink rg sha256sum stat tail tree uname uptime wc whereis which
        whoami
        """.split()
    ),
    "docker": frozenset(
        ["ps", "images", "inspect", "logs", "stats", "version", "info", "top", "port"]
    ),
    "git": frozenset(
        """
        status log diff show rev-parse ls-files ls-tree blame describe shortlog grep
        """.split()
    ),
    "kubectl": frozenset(["get", "describe", "logs", "top", "version", "explain"]),
    "npm": frozenset(["ls", "list", "view", "outdated"]),
    "pip": frozenset(["list", "show", "freeze", "check"]),
    "systemctl": frozenset(["status", "show", "list-units", "is-active", "is-enabled"]),
}
"""Programs that only read, or their reading subcommands."""

WEB: Final = frozenset(
    ["requests", "httpx", "httpx2", "niquests", "aiohttp", "urllib3", "curl_cffi"]
)
SESSIONS: Final = frozenset(
    """
    Session Client AsyncClient ClientSession AsyncSession PoolManager RetryClient
    """.split()
)
VERBS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(("GET", "HEAD", "OPTIONS"), Kind.FETCHES),
    **dict.fromkeys(("POST", "PUT", "PATCH"), Kind.POSTS),
    "DELETE": Kind.DELETES_REMOTE,
}
ASKING_POSTS: Final = frozenset(
    """
    aggregate chat completions count embeddings find generate graphql introspect lookup msearch
    predict query rerank rpc search searches select sparql token tokenize validate
    """.split()
)
"""Last words of a URL which suggest that a POST to it only queries."""

ASKING_NAMES: Final = frozenset(
    ["ask", "fetch", "find", "get", "list", "lookup", "query", "read", "search"]
)
"""Words in a function's name which suggest that its POST only queries."""

MAILERS: Final = frozenset({"smtplib.SMTP", "smtplib.SMTP_SSL", "aiosmtplib.SMTP"})
CONNECTORS: Final = frozenset(
    """
    socket.create_connection asyncio.open_connection anyio.connect_tcp websockets.connect
    websockets.client.connect websocket.create_connection http.client.HTTPSConnection
    http.client.HTTPConnection ftplib.FTP ftplib.FTP_TLS imaplib.IMAP4_SSL poplib.POP3_SSL
    feedparser.parse asyncssh.connect
    """.split()
)

STATEMENTS: Final[Mapping[str, str]] = {
    f"{root}.{name}": name.upper()
    for root in ("sqlalchemy", "sqlalchemy.sql", "sqlmodel", "sqlalchemy.dialects.postgresql")
    for name in ("insert", "update", "delete", "select")
}
EXECUTES: Final = frozenset({"execute", "executemany", "executescript", "exec_driver_sql"})
MAY_EXECUTE: Final = frozenset({"fetch", "fetchrow", "fetchval", "fetch_all", "fetch_one", "exec"})

RUNNERS: Final = frozenset(
    """
    anyio.from_thread.run anyio.from_thread.run_sync anyio.to_thread.run_sync asyncio.create_task
    asyncio.ensure_future asyncio.gather asyncio.run asyncio.to_thread asyncio.wait_for
    builtins.filter builtins.map builtins.max builtins.min builtins.sorted functools.partial
    functools.reduce starlette.concurrency.run_in_threadpool
    """.split()
)
RUNNING_METHODS: Final = frozenset(
    ["run_in_executor", "start_soon", "submit", "create_task", "apply"]
)

QUIET: Final = frozenset(
    """
    anyio attr attrs sayso bs4 cachetools dateutil fastmcp jinja2 jsonschema loguru lxml markdown
    mcp mcp_types msgspec numpy orjson packaging pydantic pytz rich starlette structlog tenacity
    tomli typing_extensions yaml zoneinfo
    """.split()
)
"""Packages that have no effects except those listed above."""

LOUD: Final = frozenset(
    """
    ctypes curses dbm ftplib imaplib mailbox multiprocessing poplib shelve telnetlib webbrowser
    xmlrpc importlib socket
    """.split()
)
"""Standard modules whose effects are not all known here."""

OF_TEXT: Final = frozenset(dir(str))

HARMLESS: Final = frozenset(
    """
    acquire all as_posix astimezone cancel_scope close commit cursor date debug done error
    exception exists fetchall fetchmany fetchone flush fullmatch get_nowait glob group groupdict
    groups info is_dir is_file isoformat iterdir json lastrowid locked match name parent
    put_nowait raise_for_status read read_bytes read_text readline readlines release result
    rglob rollback rowcount search seek seconds stat stem strftime sub suffix tell timestamp
    total_seconds tolist weekday warning write writelines writerow writerows
    """.split()
).union(*map(dir, (str, dict, list, set, bytes)))
"""Methods without effects, and methods of open files: opening a file is already reported."""
