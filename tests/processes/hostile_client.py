"""A client with a shell: it starts the gateway and tries to open the console in many ways.

`hostile_client.py FOLDER stdio|URL`: with `stdio` it starts `sayso gateway --stdio` itself. How
each way ended is written to FOLDER/NAME.json; then it logs in with the link in
FOLDER/link, and ends when there is FOLDER/end.
"""

import fcntl
import http.client
import json
import os
import pty
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

FOLDER = Path(sys.argv[1]) if __name__ == "__main__" else Path()
CONSOLE = [sys.executable, "-m", "sayso", "console", "--json"]
LIMIT = 60.0
NOBODY = 65_534
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "hostile", "version": "1"},
    },
}


def write(name: str, code: int, out: str, err: str) -> None:
    part = FOLDER / f"{name}.part"
    part.write_text(json.dumps({"code": code, "out": out, "err": err}))
    part.rename(FOLDER / f"{name}.json")


def ask(name: str, **options: Any) -> None:
    options = {"capture_output": True, "text": True, "timeout": LIMIT, **options}
    done = subprocess.run(CONSOLE, check=False, **options)
    write(name, done.returncode, done.stdout, done.stderr)


def in_the_shell() -> None:
    ask("in_the_shell")


def in_a_new_session() -> None:
    ask("in_a_new_session", start_new_session=True)


def on_its_own_terminal() -> None:
    on_a_new_terminal("on_its_own_terminal")


def on_a_new_terminal(name: str) -> None:
    _, theirs = pty.openpty()

    def take() -> None:
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

    ask(name, stdin=theirs, start_new_session=True, preexec_fn=take)


def as_an_orphan() -> None:
    orphaned(lambda: ask("as_an_orphan"), is_apart=False)


def as_a_daemon() -> None:
    orphaned(lambda: ask("as_a_daemon"), is_apart=True)


def as_a_daemon_on_its_own_terminal() -> None:
    orphaned(lambda: on_a_new_terminal("as_a_daemon_on_its_own_terminal"), is_apart=True)


def as_a_daemon_under_another_user() -> None:
    """The daemon drives the terminal, and becomes another user as far as this one may."""
    orphaned(under_another_user, is_apart=True)


def under_another_user() -> None:
    ours, theirs = pty.openpty()
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        os.setsid()
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
        os.read(told, 1)
        ask("as_a_daemon_under_another_user", stdin=theirs)
        os._exit(0)
    if os.getuid() == 0:
        os.setresuid(NOBODY, NOBODY, NOBODY)
    os.write(tell, b".")
    os.waitpid(child, 0)


def orphaned(work: Callable[[], None], *, is_apart: bool) -> None:
    """Run `work` in a process whose parent has ended, in a session of its own if `is_apart`."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    if is_apart:
        os.setsid()
    parent = os.getpid()
    if os.fork() == 0:
        wait_for(lambda: os.getppid() != parent)
        work()
    os._exit(0)


WAYS = (
    in_the_shell,
    in_a_new_session,
    on_its_own_terminal,
    as_an_orphan,
    as_a_daemon,
    as_a_daemon_on_its_own_terminal,
    as_a_daemon_under_another_user,
)


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.02)


def connect_over_stdio() -> object:
    words = ["-m", "sayso", "gateway", "--stdio", "--store", f"sqlite:{FOLDER / 'sayso.db'}"]
    words += ["--", *sys.argv[3:]]
    gateway = subprocess.Popen(
        [sys.executable, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=(FOLDER / "stderr").open("w"),
    )
    assert gateway.stdin is not None
    assert gateway.stdout is not None
    gateway.stdin.write(json.dumps(HELLO).encode() + b"\n")
    gateway.stdin.flush()
    (FOLDER / "hello").write_bytes(gateway.stdout.readline())
    wait_for(lambda: any(Path(os.environ["SAYSO_RUNTIME_DIR"]).glob("*.sock")))
    return gateway


def connect_over_http(url: str) -> object:
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    headers = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
    }
    connection.request("POST", "/mcp", json.dumps(HELLO), headers)
    (FOLDER / "hello").write_bytes(connection.getresponse().read())
    return connection


def log_in(link: str) -> None:
    """Use a link as a browser that this client has started would."""
    token = parse_qs(urlsplit(link).query)["token"][0]
    connection = http.client.HTTPConnection(urlsplit(link).netloc)
    headers = {"content-type": "application/x-www-form-urlencoded"}
    connection.request("POST", "/console/login", urlencode({"token": token}), headers)
    answer = connection.getresponse()
    write("log_in", answer.status, answer.read().decode(), "")


def main() -> None:
    is_stdio = sys.argv[2] == "stdio"
    kept = connect_over_stdio() if is_stdio else connect_over_http(sys.argv[2])
    for way in WAYS:
        way()
    for way in WAYS:
        wait_for((FOLDER / f"{way.__name__}.json").exists)
    (FOLDER / "tried").touch()
    wait_for((FOLDER / "link").exists)
    if link := (FOLDER / "link").read_text():
        log_in(link)
    wait_for((FOLDER / "end").exists)
    del kept


if __name__ == "__main__":
    main()
