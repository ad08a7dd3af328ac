"""`contracted.py HINTS FOLDER`: a stdio server over a folder, whose tools do what they are told.

HINTS is a file with the annotations of each tool by its name, read anew with each list.
"""

import asyncio
import concurrent.futures
import contextlib
import ctypes
import errno
import fcntl
import json
import multiprocessing
import os
import platform
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

VERSION = "2025-11-25"


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def read(folder: Path) -> str:
    return (folder / "notes.txt").read_text()


def rewrite(folder: Path) -> str:
    (folder / "notes.txt").write_text("lost")
    return "fine"


def swallow(folder: Path) -> str:
    """Tries all that can be tried, and says nothing of what came of it."""
    notes = folder / "notes.txt"
    for tried in (
        notes.unlink,
        lambda: notes.rename(folder / "other"),
        lambda: notes.chmod(0o600),
        lambda: os.utime(notes),
        (folder / "made").mkdir,
        lambda: (folder / "link").symlink_to(notes),
        lambda: notes.open("a").write("more"),
        lambda: os.truncate(notes, 0),
        lambda: os.setxattr(notes, "user.x", b"1"),
    ):
        try:
            tried()
        except OSError:
            continue
    return "fine"


def scratch(_folder: Path) -> str:
    """Leaves what every program leaves, or tries to."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"x")
    Path(os.devnull).write_text("x")
    for name in ("/usr/share/sayso-trace", "~/.cache/sayso-trace", "/tmp/sayso-trace-of-a-test"):
        try:
            Path(name).expanduser().write_text("x")
        except OSError:
            continue
    return "fine"


def reach(_folder: Path) -> str:
    try:
        socket.create_connection(("192.0.2.1", 80), timeout=2).close()
    except OSError as error:
        return type(error).__name__
    return "reached"


def ask_name(_folder: Path) -> str:
    try:
        socket.getaddrinfo("nobody.example", 80)
    except OSError as error:
        return type(error).__name__
    return "known"


def loopback(_folder: Path) -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        socket.create_connection(listener.getsockname(), timeout=2).close()
    return "reached"


def remember(folder: Path) -> str:
    (folder / "own").mkdir(exist_ok=True)
    (folder / "own" / "log").write_text("asked")
    return "noted"


def rows(folder: Path) -> str:
    with closing(sqlite3.connect(folder / "data" / "wal.db")) as database:
        return json.dumps(database.execute("SELECT name FROM people").fetchall())


def status(folder: Path) -> str:
    done = subprocess.run(
        ["git", "status", "--porcelain"], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


def tried(*ways: Callable[[], object]) -> str:
    """Return the result of each way: `done`, or the error's name."""
    said: list[str] = []
    for way in ways:
        try:
            way()
        except OSError as error:
            said.append(errno.errorcode.get(error.errno or 0, str(error)))
        else:
            said.append("done")
    return " ".join(said)


def speak(path: str, kind: int = socket.SOCK_STREAM) -> None:
    with socket.socket(socket.AF_UNIX, kind) as link:
        link.connect(path)
        link.send(b"lost")


def unix(folder: Path) -> str:
    return tried(lambda: speak(f"{folder}/listener"))


def unix_elsewhere(folder: Path) -> str:
    """Reach the same socket by other names and other calls."""
    first, second = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    with first, second, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagram:
        return tried(
            lambda: speak(f"/proc/self/root{folder}/listener"),
            lambda: datagram.sendto(b"lost", f"{folder}/datagrams"),
            lambda: first.connect(f"{folder}/listener"),
            lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM),
        )


def unix_abstract(folder: Path) -> str:
    return tried(lambda: speak("\0sayso-" + folder.parent.name))


def unix_own(folder: Path) -> str:
    return tried(lambda: speak(f"{folder}/own/listener"))


def fifo(folder: Path) -> str:
    with contextlib.suppress(OSError):
        (Path(tempfile.gettempdir()) / "link").symlink_to(folder)
    return tried(
        lambda: os.open(folder / "fifo", os.O_RDWR | os.O_NONBLOCK),
        lambda: os.open(f"{tempfile.gettempdir()}/link/fifo", os.O_RDWR | os.O_NONBLOCK),
    )


def linked(folder: Path) -> str:
    """Writes through a link of its own, and takes that away."""
    link = Path(tempfile.gettempdir()) / "link"
    link.symlink_to(folder)
    said = tried(lambda: (link / "notes.txt").write_text("lost"))
    link.unlink()
    return said


def by_descriptor(folder: Path) -> str:
    opened = os.open(folder / "notes.txt", os.O_RDONLY)
    return tried(lambda: os.open(f"/proc/self/fd/{opened}", os.O_WRONLY))


def by_root(folder: Path) -> str:
    return tried(lambda: Path(f"/proc/self/root{folder}/notes.txt").write_text("lost"))


def keyring(_folder: Path) -> str:
    """Puts a key into the keyring of the user: add_key, KEY_SPEC_USER_KEYRING."""
    kernel = ctypes.CDLL(None, use_errno=True)
    number = {"x86_64": 248, "aarch64": 217}[platform.machine()]
    if kernel.syscall(number, b"user", b"sayso", b"lost", 4, -4) < 0:
        return errno.errorcode[ctypes.get_errno()]
    return "done"


def kernel(_folder: Path) -> str:
    file = Path("/proc/sys/vm/swappiness")
    said = file.read_text()
    return tried(lambda: file.write_text(said))


def lock(folder: Path) -> str:
    database = sqlite3.connect(folder / "plain.db", isolation_level=None)
    _KEPT.append(database)
    database.execute("BEGIN")
    return json.dumps(database.execute("SELECT name FROM people").fetchall())


def flocked(folder: Path) -> str:
    opened = (folder / "notes.txt").open()
    _KEPT.append(opened)
    return tried(lambda: fcntl.flock(opened, fcntl.LOCK_EX))


def pairs(_folder: Path) -> str:
    """Do what honest servers do: pairs of sockets, an event loop, processes, a pool."""
    first, second = socket.socketpair()
    first.send(b"fine")
    said = second.recv(4).decode()
    first.close()
    second.close()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        said += pool.submit(asyncio.run, echo()).result()
    with multiprocessing.get_context("fork").Pool(1) as processes:
        return said + processes.apply(str, ("fine",))


async def echo() -> str:
    child = await asyncio.create_subprocess_exec("echo", "fine", stdout=subprocess.PIPE)
    said, _ = await child.communicate()
    return said.decode().strip()


_KEPT: list[object] = []


def whoami(_folder: Path) -> str:
    return f"{os.getpid()} {os.environ.get('TMPDIR', '')}"


def die(_folder: Path) -> str:
    sys.exit(1)


TOOLS: dict[str, Callable[[Path], str]] = {
    one.__name__: one
    for one in (
        *(read, rewrite, swallow, scratch, reach, ask_name, loopback),
        *(remember, rows, status, whoami, die),
        *(unix, unix_elsewhere, unix_abstract, unix_own, fifo, linked, by_descriptor, by_root),
        *(keyring, kernel, lock, flocked, pairs),
    )
}


def main(hints: Path, folder: Path) -> None:
    for line in sys.stdin:
        message = json.loads(line)
        number, method = message.get("id"), message.get("method")
        if method == "initialize":
            about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "c", "version": "1"}}
            send({"id": number, "result": {"protocolVersion": VERSION, **about}})
        elif method == "tools/list":
            entries = [
                {"name": name, "inputSchema": {"type": "object"}, "annotations": said}
                for name, said in json.loads(hints.read_text()).items()
            ]
            send({"id": number, "result": {"tools": entries}})
        elif method == "tools/call":
            send({"id": number, "result": result(TOOLS[message["params"]["name"]], folder)})
        elif number is not None:
            send({"id": number, "error": {"code": -32601, "message": "Method not found"}})


def result(tool: Callable[[Path], str], folder: Path) -> dict[str, Any]:
    try:
        text, is_error = tool(folder), False
    except Exception as error:  # noqa: BLE001 - as servers do
        text, is_error = f"{type(error).__name__}: {error}", True
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
