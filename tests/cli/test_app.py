"""The command line itself: what is not understood is told, and nothing of our inside is."""

import json
import subprocess
import sys

import pytest
from tests.cli.running import COMMAND, environment, sayso

from sayso import __version__
from sayso.cli import app as app_module
from sayso.cli import main
from sayso.errors import UsageError


def test_the_version_is_one_line() -> None:
    done = sayso("--version")

    assert (done.code, done.out, done.err) == (0, f"sayso {__version__}\n", "")


def test_without_words_the_commands_are_listed() -> None:
    done = sayso()

    assert (done.code, done.err) == (0, "")
    for command in ("inspect", "prompt", "gateway", "demo"):
        assert command in done.out


def test_a_command_has_a_page_of_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gateway", "--help"]) == 0

    out = capsys.readouterr().out
    for word in ("--store", "--host", "--port", "--timeout", "--patience", "--json", "after --"):
        assert word in " ".join(out.split())


def test_an_unknown_command_is_told_with_the_one_that_was_meant() -> None:
    done = sayso("inspekt")

    assert (done.code, done.out) == (2, "")
    assert 'Unknown command "inspekt". Did you mean "inspect"?' in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["inspect", "--jsn", "x.json"], "--jsn"),
        (["inspect", "--timeout", "soon", "x.json"], "soon"),
        (["inspect", "--timeout"], "--timeout"),
        (["inspect"], "no target is given"),
        (["inspect", "--"], "no command after --"),
        (["inspect", "a", "b"], "one target is expected"),
        (["inspect", "ftp://example.com"], "not http:// or https://"),
        (["gateway", "--port", "99999", "http://127.0.0.1:9"], "99999"),
        (["gateway", "--port", "-1", "http://127.0.0.1:9"], "-1"),
        (["gateway", "--host", "192.0.2.1", "http://127.0.0.1:9"], "not a loopback address"),
        (["gateway", "--host", "here", "http://127.0.0.1:9"], "is not an address"),
        (["demo", "--", "x"], "no arguments after --"),
        (["demo", "x"], "x"),
    ],
)
def test_what_is_not_understood_is_a_usage_error_in_words_and_in_json(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in " ".join(err.split())

    assert main([words[0], "--json", *words[1:]]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert said in json.loads(line)["error"]["what"] + json.loads(line)["error"].get("where", "")


def test_a_usage_error_of_a_whole_process_is_one_line_of_json() -> None:
    done = sayso("gateway", "--json", "--colour", "red")

    assert (done.code, done.out) == (2, "")
    assert done.error["code"] == "usage"
    assert "--colour" in done.error["what"]


@pytest.mark.process
def test_words_after_the_dashes_are_no_options_of_sayso() -> None:
    done = sayso("inspect", "--", "no-such-command-here", "--json", "--version")

    assert done.code == 4
    assert done.err.startswith("sayso: no-such-command-here")


def fail(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def dispatch(*_: object, **__: object) -> int:
        raise error

    monkeypatch.setattr(app_module, "_dispatch", dispatch)


def test_a_mistake_of_saysos_own_is_told_without_its_stack(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("SAYSO_DEBUG", raising=False)
    fail(ZeroDivisionError("by zero"), monkeypatch)

    assert main(["inspect", "--json"]) == 70
    out, err = capsys.readouterr()
    assert out == ""
    assert "internal error: ZeroDivisionError" in json.loads(err)["error"]["what"]


def test_a_mistake_of_saysos_own_is_shown_to_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAYSO_DEBUG", "1")
    fail(ZeroDivisionError("by zero"), monkeypatch)

    with pytest.raises(ZeroDivisionError):
        main(["inspect"])


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (UsageError("no"), 2)])
def test_how_a_command_ends_is_its_exit_code(
    error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail(error, monkeypatch)

    assert main(["inspect"]) == code


@pytest.mark.process
def test_the_version_costs_no_import_of_an_sdk() -> None:
    code = (
        "import sys\nfrom sayso.cli import main\nmain(['--version'])\n"
        "print(sorted({'mcp', 'anyio', 'pydantic', 'click'} & set(sys.modules)))"
    )
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, check=True)

    assert done.stdout.splitlines() == [f"sayso {__version__}", "[]"]
    assert COMMAND[1:] == ("-m", "sayso")
