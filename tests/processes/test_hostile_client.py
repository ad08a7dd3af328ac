"""A client with a shell cannot open the console of its own gateway; a person beside it can."""

import json
import os
import pty
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.cli.running import COMMAND, environment, python, started
from tests.processes.hostile_client import WAYS, wait_for
from tests.terminals import BOOT, run_on_terminal

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

CLIENT = str(Path(__file__).parent / "hostile_client.py")


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """A short path: the name of a socket holds about a hundred bytes."""
    with tempfile.TemporaryDirectory(prefix="sayso-") as folder:
        monkeypatch.setenv("SAYSO_RUNTIME_DIR", folder)
        yield Path(folder)


@contextmanager
def at_its_terminal(runtime: Path, *words: str) -> Generator["subprocess.Popen[bytes]"]:
    """A program in a tab of a terminal emulator, which this process is."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", BOOT, sys.executable, *words],
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=environment(SAYSO_RUNTIME_DIR=str(runtime)),
    )
    os.close(theirs)
    with process:
        try:
            yield process
        finally:
            process.kill()
            os.close(ours)


def results(folder: Path) -> dict[str, Any]:
    return {way.__name__: json.loads((folder / f"{way.__name__}.json").read_text()) for way in WAYS}


def link_for_a_person() -> dict[str, Any]:
    code, shown = run_on_terminal([*COMMAND, "console", "--json"], {})
    assert code == 0, shown
    return json.loads(shown[shown.index("{") :])


def test_no_way_from_a_stdio_client_leads_into_its_console_and_a_person_comes_in(
    tmp_path: Path, runtime: Path
) -> None:
    words = (CLIENT, str(tmp_path), "stdio", *python("plain"))
    with at_its_terminal(runtime, *words):
        wait_for((tmp_path / "tried").exists)
        found = results(tmp_path)
        given = link_for_a_person()
        (tmp_path / "link").write_text(given["console"])
        wait_for((tmp_path / "log_in.json").exists)
        with httpx2.Client() as browser:
            token = given["console"].partition("token=")[2]
            entered = browser.post(given["console"].partition("?")[0], data={"token": token})

    for name, one in found.items():
        assert "token=" not in one["out"] + one["err"], name
        assert json.loads(one["err"])["error"]["code"] == "denied", (name, one)
    assert given["gateway"]["client"]
    assert json.loads((tmp_path / "log_in.json").read_text())["code"] == 403
    assert (entered.status_code, "set-cookie" in entered.headers) == (303, True)
    printed = (tmp_path / "stderr").read_text()
    assert "run sayso console" in printed
    assert "token=" not in printed + (tmp_path / "hello").read_text()


def test_no_way_from_an_http_client_leads_into_the_console_of_its_gateway(
    tmp_path: Path, runtime: Path
) -> None:
    store = f"sqlite:{tmp_path / 'sayso.db'}"
    words = ("gateway", "--port", "0", "--json", "--store", store, "--", *python("plain"))
    with started(*words, SAYSO_RUNTIME_DIR=str(runtime)) as run:
        url = run.addresses["mcp"]
        with at_its_terminal(runtime, CLIENT, str(tmp_path), url):
            wait_for((tmp_path / "tried").exists)
            found = results(tmp_path)
            given = link_for_a_person()
            (tmp_path / "link").touch()

    for name, one in found.items():
        assert json.loads(one["err"])["error"]["code"] == "denied", (name, one)
    assert given["console"].startswith(url.removesuffix("/mcp"))


def test_a_socket_that_nobody_serves_is_removed_and_all_gateways_are_listed(
    tmp_path: Path, runtime: Path
) -> None:
    store = f"sqlite:{tmp_path / 'sayso.db'}"
    words = ("gateway", "--port", "0", "--json", "--store", store, "--", *python("plain"))
    with started(*words, SAYSO_RUNTIME_DIR=str(runtime)) as killed:
        killed.process.kill()
        killed.process.wait(30)
    assert len(list(runtime.iterdir())) == 1

    with (
        started(*words, SAYSO_RUNTIME_DIR=str(runtime)) as one,
        started(*words, SAYSO_RUNTIME_DIR=str(runtime)) as other,
    ):
        wait_for(lambda: len(list(runtime.glob("*.sock"))) == 3)
        code, shown = run_on_terminal([*COMMAND, "console", "--list", "--json"], {})
        listed = json.loads(shown[shown.index("{") :])["gateways"]
        chosen, choice = run_on_terminal([*COMMAND, "console"], {"Which one?": "1\n"})
        unclear, error = run_on_terminal([*COMMAND, "console", "--json"], {})
        modes = {path.stat().st_mode & 0o777 for path in runtime.iterdir()}

    assert code == 0
    assert {gateway["pid"] for gateway in listed} == {one.process.pid, other.process.pid}
    assert modes == {0o600}
    assert chosen == 0
    assert "/console/login?token=" in choice
    assert unclear == 2
    assert "2 gateways are running" in error
