"""`sayso service`: what it shows, asks and writes; `systemctl` is a stand-in."""

import os
import re
import sys
from pathlib import Path

import pytest
from tests.cli.running import COMMAND, Done, configuration, environment, sayso
from tests.service.stand_in import StandIn
from tests.terminals import run_on_terminal

from sayso.cli.app import app
from sayso.cli.commands import Parsed

pytestmark = pytest.mark.process


class Machine:
    """A home with a configuration in `work`, and a stand-in for systemctl."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.work = self.home / "work"
        self.work.mkdir(parents=True)
        self.path = self.home / ".config/systemd/user/sayso.service"
        self.stand_in = StandIn.made(folder / "bin", self.path)
        configuration(self.work / "mcp.json", shop=(sys.executable, "-m", "sayso.demo.server"))
        self.variables = {
            "HOME": str(self.home),
            "PATH": f"{self.stand_in.folder}:{os.environ['PATH']}",
        }

    def run(self, *words: str, **variables: str) -> Done:
        return sayso("service", *words, cwd=self.work, **{**self.variables, **variables})

    def command(self) -> list[str]:
        """The words that the service starts; here none has a character to escape."""
        (line,) = re.findall(r"^ExecStart=(.*)$", self.path.read_text(), re.MULTILINE)
        return re.findall(r'"([^"]*)"', line)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize(("answer", "code"), [("\n", 5), ("y\n", 0)])
def test_an_install_shows_file_and_commands_and_asks(
    machine: Machine, answer: str, code: int
) -> None:
    words = [*COMMAND, "service", "install", "--", "mcp.json"]
    ended, shown = run_on_terminal(
        words,
        {"[y/N] ": answer},
        cwd=machine.work,
        environment=environment(**machine.variables),
    )
    assert ended == code, shown
    question = shown.index("Install and start the service sayso? [y/N]")
    for expected in ("ExecStart=", "KillMode=mixed", "systemctl --user start sayso.service"):
        assert expected in shown[:question]
    assert machine.path.exists() == (code == 0)
    assert bool(machine.stand_in.calls()) == (code == 0)
    for expected in ("journalctl --user --unit sayso.service", "loginctl enable-linger"):
        assert (expected in shown) == (code == 0)


def test_without_a_terminal_nothing_is_done_until_yes_is_given(machine: Machine) -> None:
    done = machine.run("install", "--", "mcp.json")
    assert (done.code, machine.path.exists()) == (2, False)
    assert "add --yes" in done.err
    assert machine.run("install", "--yes", "--", "mcp.json").code == 0
    assert machine.run("uninstall").code == 2
    assert machine.path.exists()
    assert machine.run("uninstall", "--dry-run").code == 0
    assert machine.path.exists()
    assert machine.run("uninstall", "--yes").code == 0
    assert not machine.path.exists()


def test_a_dry_run_changes_nothing(machine: Machine) -> None:
    done = machine.run("install", "--dry-run", "--", "mcp.json")
    assert done.code == 0
    assert "ExecStart=" in done.out
    assert not machine.path.exists()
    assert machine.stand_in.calls() == []


def test_paths_are_absolute_and_gateway_understands_the_words(machine: Machine) -> None:
    (machine.work / "policy.toml").write_text('mode = "strict"\n')
    options = ("--policy", "policy.toml", "--heads=heads.jsonl", "--store", "sqlite:my.db")
    more = ("--port", "9000", "--drain", "5", "--log-format", "json", "--otel")
    done = machine.run("install", "--yes", "--", "mcp.json#shop", *options, *more)
    assert done.code == 0, done.err
    program, *words = machine.command()
    assert Path(program).is_absolute()
    words = words[words.index("gateway") :]
    work = machine.work
    assert words == [
        "gateway",
        f"{work}/mcp.json#shop",
        f"--policy={work}/policy.toml",
        f"--heads={work}/heads.jsonl",
        f"--store=sqlite:{work}/my.db",
        "--port=9000",
        "--drain=5.0",
        "--otel",
        "--log-format=json",
    ]
    parsed = app.parse(words)
    assert isinstance(parsed, Parsed)
    assert parsed.arguments["target"] == (f"{work}/mcp.json#shop",)
    assert parsed.arguments["storage"].heads == f"{work}/heads.jsonl"
    text = machine.path.read_text()
    assert f"WorkingDirectory={work}\n" in text
    assert "TimeoutStopSec=35\n" in text


def test_a_command_of_a_server_goes_after_a_second_pair_of_dashes(machine: Machine) -> None:
    words = ("--port", "9000", "--", "uvx", "mcp-server-git", "--port", "1")
    assert machine.run("install", "--yes", "--", *words).code == 0
    command = machine.command()
    assert command[command.index("gateway") :] == [
        *("gateway", "--port=9000", "--", "uvx", "mcp-server-git", "--port", "1"),
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "no target is given"),
        (("nowhere.json",), "nowhere.json"),
        (("mcp.json", "--stdio"), "no standard input"),
        (("mcp.json", "--colour", "red"), "--colour"),
        (("mcp.json", "--policy", "wrong.toml"), "wrong.toml"),
        (("mcp.json", "--store", "postgresql://a:secret@b/c"), "a password would be in the unit"),
        (("mcp.json", "--help"), "no target or option"),
        (("mcp.json", "--store", "sqlite:a\nb"), "line break or control character"),
    ],
)
def test_a_wrong_option_is_told_before_anything_is_written(
    machine: Machine, words: tuple[str, ...], said: str
) -> None:
    (machine.work / "wrong.toml").write_text("mode = 1\n")
    done = machine.run("install", "--yes", "--", *words)
    assert done.code == 2, done.out
    assert said in " ".join(done.err.split())
    assert "secret" not in done.out + done.err
    assert not machine.path.exists()
    assert machine.stand_in.calls() == []


@pytest.mark.parametrize("command", ["install", "uninstall", "status"])
def test_without_systemd_the_error_says_what_to_do_instead(
    machine: Machine, command: str, tmp_path: Path
) -> None:
    words = (command, "--yes") if command != "status" else (command,)
    words += ("--", "mcp.json") if command == "install" else ()
    (tmp_path / "empty").mkdir()
    done = machine.run(*words, PATH=str(tmp_path / "empty"))
    assert done.code == 2
    assert "this machine has no systemd" in done.err
    machine.stand_in.fail("show --property=Version", always=True)  # as without a login session
    done = machine.run(*words)
    assert done.code == 2
    for expected in ("no systemd serves this user", "Log in as the user itself", "supervisor"):
        assert expected in " ".join(done.err.split())
    assert not machine.path.exists()


def test_variables_that_the_service_lacks_are_named_without_their_values(
    machine: Machine,
) -> None:
    done = machine.run("install", "--yes", "--", "mcp.json", SAYSO_WEBHOOK="https://x/secret")
    assert done.code == 0
    assert "SAYSO_WEBHOOK" in done.err
    assert "sayso.env" in done.err
    assert "secret" not in done.out + done.err + machine.path.read_text()


def test_the_status_is_for_people_and_programs(machine: Machine) -> None:
    done = machine.run("status", "--json")
    assert done.code == 1
    assert (done.json["is_installed"], done.json["is_active"]) == (False, False)
    assert machine.run("install", "--yes", "--", "mcp.json").code == 0
    done = machine.run("status", "--json")
    assert done.code == 0
    expected = {"name": "sayso", "is_installed": True, "is_enabled": True, "is_active": True}
    expected |= {"pid": 4242, "restarts": 3, "exit_code": None, "file": str(machine.path)}
    assert {name: done.json[name] for name in expected} == expected
    done = machine.run("status")
    assert "sayso: active (running), enabled" in done.out
    (machine.stand_in.state / "active").unlink()
    machine.path.write_text(machine.path.read_text() + "# more\n")
    done = machine.run("status")
    assert done.code == 1
    assert "last exit code: 2" in done.out
    assert "edited by hand" in done.out


def test_a_second_gateway_has_a_name_of_its_own(machine: Machine) -> None:
    done = machine.run("install", "--name", "work", "--dry-run", "--", "mcp.json")
    assert "~/.config/systemd/user/work.service" in done.err
    assert "systemctl --user start work.service" in done.err


def test_a_failed_start_is_told_with_where_its_log_is(machine: Machine) -> None:
    machine.stand_in.fail("start")
    done = machine.run("install", "--yes", "--", "mcp.json")
    assert done.code == 1
    for expected in ("told to fail", "Everything is as it was before", "journalctl --user"):
        assert expected in " ".join(done.err.split())
    assert not machine.path.exists()


def test_each_command_has_a_page_of_help_with_an_example(machine: Machine) -> None:
    for command in ("install", "uninstall", "status"):
        lines = machine.run(command, "--help").out
        assert f"Example: sayso service {command}" in lines
        assert lines.splitlines()[-1] == "Documentation: docs/guides/operating.md"


def test_a_second_install_shows_only_what_changes(machine: Machine) -> None:
    assert machine.run("install", "--yes", "--", "mcp.json").code == 0
    done = machine.run("install", "--yes", "--", "mcp.json", "--port", "9000")
    assert done.code == 0
    changed = [line for line in done.out.splitlines() if line.startswith("+")]
    assert any("--port=9000" in line for line in changed)
    assert "KillMode" not in done.out
    assert "--port=9000" in machine.command()


@pytest.mark.parametrize(("answer", "expected"), [("yes", True), ("no", False), ("", None)])
def test_the_status_says_whether_it_runs_without_a_login(
    machine: Machine, answer: str, *, expected: bool | None
) -> None:
    loginctl = machine.stand_in.folder / "loginctl"  # a stand-in too
    loginctl.write_text(f"#!/bin/sh\necho {answer}\n")
    loginctl.chmod(0o755)
    document = machine.run("status", "--json").json
    assert (document["schema"], document["lingers"]) == (1, expected)
