"""`sayso console`: a login link for the console of a running gateway."""

import sys
import time
import webbrowser
from datetime import datetime
from html import escape
from typing import Annotated, Final

from sayso.cli.commands import option
from sayso.cli.options import Json
from sayso.cli.terminal import plain, print_document, say
from sayso.console import RunningGateway, ask_for_link, private_folder, running_gateways
from sayso.errors import UnreachableError, UsageError

_PAGE: Final = '<!doctype html><meta http-equiv="refresh" content="0;url={}">\n'
_SUFFIX: Final = ".html"
_PAGE_SECONDS: Final = 900.0


def console(
    gateway: str | None = None,
    *,
    list_: Annotated[bool, option("--list")] = False,
    open_: Annotated[bool, option("--open")] = False,
    json: Json = False,
) -> int:
    """Print a single-use login link for the console of a running gateway.

    Finds your gateways on this machine. Run it in your own terminal: clients of the
    gateway and their processes, such as an agent's shell, get no link.

    Parameters
    ----------
    gateway
        Which gateway, if several run: its process id, its port, or the name of one of its servers.
    list_
        List the running gateways instead.
    open_
        Also open the link in a browser.
    """
    running = running_gateways()
    if list_:
        _list(running, is_json=json)
        return 0
    chosen = _choose(running, gateway, is_json=json)
    link = ask_for_link(chosen)
    if json:
        print_document({"gateway": chosen.about.to_dict(), "console": link})
    elif link is None:
        say(plain(f"People log in with an account: open {chosen.about.address}"))
    else:
        sys.stdout.write(f"{plain(link)}\n")
        sys.stdout.flush()
        say("Open this link in your browser. It works once, within fifteen minutes.")
    if open_:
        _open(link or chosen.about.address)
    return 0


def _list(running: list[RunningGateway], *, is_json: bool) -> None:
    if is_json:
        print_document({"gateways": [gateway.about.to_dict() for gateway in running]})
        return
    if not running:
        say("You have no running gateway on this machine.")
    for gateway in running:
        sys.stdout.write(f"{_line(gateway)}\n")


def _choose(running: list[RunningGateway], word: str | None, *, is_json: bool) -> RunningGateway:
    if not running:
        fix = "Start a client that uses sayso, or run sayso gateway."
        raise UnreachableError("you have no running gateway on this machine", fix=fix)
    matches = [gateway for gateway in running if word is None or word in _words(gateway)]
    if len(matches) == 1:
        return matches[0]
    lines = "\n".join(_line(gateway) for gateway in matches or running)
    if not matches:
        fix = f"Running gateways:\n{lines}"
        raise UsageError(f"no gateway matches “{word}”", where="sayso console", fix=fix)
    if is_json or not sys.stdin.isatty():
        fix = f"Choose one by its process id, its port or one of its servers:\n{lines}"
        raise UsageError(f"{len(matches)} gateways are running", where="sayso console", fix=fix)
    return _ask(matches)


def _ask(matches: list[RunningGateway]) -> RunningGateway:
    for number, gateway in enumerate(matches, 1):
        say(f"{number:>2}  {_line(gateway)}")
    sys.stderr.write(f"Which one? [1-{len(matches)}] ")
    sys.stderr.flush()
    answer = sys.stdin.readline().strip()
    if not answer.isdecimal() or not 1 <= int(answer) <= len(matches):
        raise UsageError("no gateway was selected", where="sayso console")
    return matches[int(answer) - 1]


def _words(gateway: RunningGateway) -> set[str]:
    about = gateway.about
    port = about.address.removesuffix("/console/").rpartition(":")[2]
    return {str(about.pid), port, about.address, *about.servers}


def _line(gateway: RunningGateway) -> str:
    about = gateway.about
    since = f"{datetime.fromtimestamp(about.started).astimezone():%Y-%m-%d %H:%M}"
    parts = [*about.servers, f"since {since}"]
    if about.client:
        parts.insert(-1, f"started by {about.client}")
    return plain(f"{about.pid}  {about.address}  {', '.join(parts)}")


def _open(address: str) -> None:
    """Open an address from a private file: other users can read the browser's command line."""
    folder = private_folder()
    if folder is None:
        raise UsageError("requires a private folder, and this user has none", where="--open")
    for page in folder.glob(f"*{_SUFFIX}"):
        if time.time() - page.stat().st_mtime > _PAGE_SECONDS:
            page.unlink(missing_ok=True)
    page = folder / f"{time.time_ns()}{_SUFFIX}"
    page.touch(mode=0o600)
    page.write_text(_PAGE.format(escape(address)), encoding="utf-8")
    if not webbrowser.open(page.as_uri()):
        say("Could not open a browser.")
