"""`sayso inspect`: what a person sees of a server, and of everything that is wrong with one."""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
import unicodedata
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import (
    COMMAND,
    SOURCE,
    Done,
    configuration,
    environment,
    python,
    sayso,
    started,
    write_json,
)
from tests.connect.servers.web import Answer, Exchange, serve_web

NODE_SERVER = (
    Path(__file__).parents[1]
    / "npm/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"
)
GIT_SERVER = ("-m", "mcp_server_git", "--repository")

needs_npm = pytest.mark.skipif(
    shutil.which("node") is None or not NODE_SERVER.exists(),
    reason="needs node, and the server that `make setup` installs from npm",
)


def tool(name: str, **annotations: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, "annotations": annotations}


@pytest.fixture
def repository(tmp_path: Path) -> str:
    folder = tmp_path / "repository"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return str(folder)


def levels(document: dict[str, Any]) -> dict[str, str]:
    return {one["name"]: one["level"] for one in document["tools"]}


def test_a_sound_list_is_clean_and_shown_as_a_table(tmp_path: Path) -> None:
    saved = write_json(tmp_path / "tools.json", {"tools": [tool("get_x", readOnlyHint=True)]})

    done = sayso("inspect", saved)

    assert (done.code, done.err) == (0, "")
    headline, *_ = lines = done.out.splitlines()
    assert headline == "tools: 1 tool: 1 read"
    (row,) = [line.split() for line in lines if line.startswith("get_x")]
    assert row[:3] == ["get_x", "read", "yes"]


def test_a_hint_that_is_no_boolean_is_a_finding(tmp_path: Path) -> None:
    saved = write_json(tmp_path / "tools.json", [tool("get_x", readOnlyHint="true")])

    done = sayso("inspect", saved)

    assert done.code == 1
    assert 'get_x: readOnlyHint must be true or false, not "true"' in done.out


def test_the_json_document_is_the_documented_one(tmp_path: Path) -> None:
    saved = write_json(tmp_path / "tools.json", [tool("get_x", readOnlyHint="true")])

    done = sayso("inspect", "--json", saved)

    assert (done.code, done.err) == (1, "")
    assert done.json["schema"] == 1
    assert done.json["server"]["name"] == "tools"
    (found,) = done.json["tools"]
    assert {"name", "title", "level", "hints", "fingerprint", "findings"} <= set(found)
    assert set(found["hints"]) == {"read_only", "destructive", "idempotent", "open_world"}
    assert set(found["hints"]["read_only"]) == {"value", "source"}
    assert re.fullmatch("[0-9a-f]{64}", found["fingerprint"])
    assert found["findings"][0]["hint"] == "read_only"


SIFTED = [
    tool("get_x", readOnlyHint=True, openWorldHint=False),
    tool("add_x", readOnlyHint=False, destructiveHint=False),
    tool("wipe_x", readOnlyHint=False, destructiveHint=True),
]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ((), ["get_x", "add_x", "wipe_x"]),
        (("--level", "read"), ["get_x"]),
        (("--level", "write", "--level", "destructive"), ["add_x", "wipe_x"]),
        (("--hint", "read_only"), ["get_x"]),
        (("--hint", "readOnlyHint=false"), ["add_x", "wipe_x"]),
        (("--hint", "read_only=false", "--hint", "destructive=true"), ["wipe_x"]),
        (("--level", "read", "--hint", "open_world"), []),
    ],
)
def test_only_tools_of_a_level_or_with_a_hint_are_shown(
    tmp_path: Path, words: tuple[str, ...], names: list[str]
) -> None:
    saved = write_json(tmp_path / "tools.json", SIFTED)

    assert [one["name"] for one in sayso("inspect", saved, "--json", *words).json["tools"]] == names
    headline, *lines = sayso("inspect", saved, *words).out.splitlines()
    rows = [line.split()[0] for line in lines if "_x " in line and not line.startswith("lint:")]
    assert rows == names
    count = f" ({len(names)} shown)" if words else ""
    assert headline == f"tools: 3 tools: 1 read, 1 write, 1 destructive{count}"


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("read_olny", "Did you mean 'read_only'?"),
        ("zzz", "Hints are: read_only, destructive, idempotent, open_world."),
        ("read_only=yes", "the value of read_only must be true or false, got 'yes'"),
        ("read_only=", "the value of read_only must be true or false, got ''"),
    ],
)
def test_a_hint_that_there_is_none_of_is_a_mistake(tmp_path: Path, word: str, told: str) -> None:
    saved = write_json(tmp_path / "tools.json", SIFTED)
    done = sayso("inspect", saved, "--hint", word)
    assert (done.code, told in " ".join(done.err.split())) == (2, True)


def test_the_rules_that_a_tool_breaks_are_named(tmp_path: Path) -> None:
    wrong = {**tool("list_x", readOnlyHint=True), "title": "List x"}
    saved = write_json(tmp_path / "tools.json", [wrong, *SIFTED[:1]])

    linted = sayso("lint", "--json", saved).json["servers"][0]["findings"]
    of_it = [one for one in linted if one["tool"] == "list_x"]
    loud = list(dict.fromkeys(one["code"] for one in of_it if one["severity"] != "note"))
    assert "SS102" in loud
    found = sayso("inspect", "--json", saved).json["tools"][0]["lint"]
    keys = ("code", "name", "severity", "message")
    assert found == [{key: one[key] for key in keys} for one in of_it]
    done = sayso("inspect", saved)
    assert f"lint: list_x breaks {', '.join(loud)}" in done.out.splitlines()
    assert done.code == 0


@pytest.mark.process
def test_what_the_source_does_is_known_to_lint(tmp_path: Path) -> None:
    file = tmp_path / "server.py"
    file.write_text(
        "from mcp.server import MCPServer\nfrom mcp.types import ToolAnnotations\n"
        "server = MCPServer('crm', log_level='ERROR')\n\n\n"
        "@server.tool(annotations=ToolAnnotations(readOnlyHint=True, openWorldHint=False))\n"
        'def get_x() -> str:\n    """Get x."""\n    open("/srv/x", "w")\n    return ""\n'
    )
    (found,) = sayso("inspect", "--json", str(file)).json["tools"]
    assert "SS116" in {one["code"] for one in found["lint"]}


def test_entries_that_are_no_tools_are_told_of() -> None:
    def broken(exchange: Exchange) -> None:
        exchange.result({"tools": [7, {"title": "nameless"}, tool("get_x", readOnlyHint=True)]})

    with serve_web(tools_list=broken) as site:
        done = sayso("inspect", site.url)

    assert done.code == 1
    assert "entry 0 of tools/list is not an object" in done.out
    assert "tool without a name" in done.out
    assert "get_x" in done.out


@pytest.mark.process
def test_the_git_server_is_read(repository: str) -> None:
    done = sayso("inspect", "--json", "--", sys.executable, *GIT_SERVER, repository)

    assert done.code == 0, done.err
    assert done.json["server"]["name"] == "mcp_server_git"
    assert done.json["server"]["protocol"] == "2026-07-28"
    found = levels(done.json)
    assert (found["git_status"], found["git_reset"]) == ("read", "destructive")


@needs_npm
@pytest.mark.npm
def test_the_filesystem_server_from_npm_is_read(tmp_path: Path) -> None:
    done = sayso("inspect", "--json", "--", "node", str(NODE_SERVER), str(tmp_path))

    assert done.code == 0, done.out + done.err
    assert done.json["server"]["protocol"] == "2025-11-25"
    found = levels(done.json)
    assert (found["read_text_file"], found["write_file"]) == ("read", "destructive")


@needs_npm
@pytest.mark.process
def test_a_configuration_that_names_both_shows_both(tmp_path: Path, repository: str) -> None:
    config = configuration(
        tmp_path / "claude_desktop_config.json",
        git=(sys.executable, *GIT_SERVER, repository),
        filesystem=("node", str(NODE_SERVER), str(tmp_path)),
    )

    done = sayso("inspect", "--json", config)

    assert done.code == 0, done.err
    git, filesystem = done.json["servers"]
    assert (git["server"]["name"], filesystem["server"]["name"]) == ("git", "filesystem")
    assert levels(git)["git_status"] == levels(filesystem)["read_text_file"] == "read"


@pytest.fixture
def half_dead(tmp_path: Path) -> str:
    """A configuration of two servers, of which one fails."""
    return configuration(tmp_path / "config.json", good=python("plain"), bad=python("exits"))


@pytest.mark.process
def test_of_two_servers_the_one_that_fails_leaves_the_other(half_dead: str) -> None:
    done = sayso("inspect", half_dead)

    assert done.code == 4
    assert "good 1.0 (MCP 2025-11-25): 10 tools" in done.out
    assert "sayso: bad" in done.err
    assert "the server ended before it answered; the last lines on stderr:" in done.err
    assert "The variable API_KEY=••• is refused." in done.err


@pytest.mark.process
def test_of_two_servers_both_stand_in_the_document(half_dead: str) -> None:
    done = sayso("inspect", "--json", half_dead)

    assert done.code == 4
    assert done.error["code"] == "server-exited"
    good, bad = done.json["servers"]
    assert len(good["tools"]) == 10
    assert bad["server"] == {"name": "bad"}
    assert bad["error"] == done.error


@pytest.mark.process
def test_one_entry_of_a_configuration_is_enough(half_dead: str) -> None:
    done = sayso("inspect", "--json", f"{half_dead}#good")

    assert (done.code, done.err) == (0, "")
    assert done.json["server"]["declared_name"] == "faulty"


@pytest.mark.process
def test_a_python_file_is_a_target(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(
        "from mcp.server import MCPServer\n"
        "mcp = MCPServer('shop')\n"
        "@mcp.tool()\n"
        "def delete_order(number: int) -> str:\n"
        "    return 'gone'\n"
    )

    done = sayso("inspect", "--json", str(tmp_path / "shop.py"), cwd=Path(SOURCE))

    assert done.code == 0, done.err
    assert levels(done.json) == {"delete_order": "destructive"}


FAILURES = {
    "exits": ("server-exited", "The variable API_KEY=••• is refused."),
    "garbage-exits": ("not-mcp", "printed a line to stdout that is not MCP"),
    "garbage": ("not-mcp", "Welcome to the best server!"),
    "silent": ("timed-out", "no answer within 1 s"),
    "dies-listing": ("unreachable", "tools/list failed"),
    "slow-listing": ("timed-out", "tools/list failed"),
    "ancient": ("not-mcp", "1999-12-31"),
}


@pytest.mark.process
def test_every_command_that_is_no_server_is_told_in_its_own_line_of_json(tmp_path: Path) -> None:
    servers = {mode: python(mode) for mode in FAILURES}
    config = configuration(tmp_path / "config.json", **servers, none=["no-such-command-here"])

    done = sayso("inspect", "--json", "--timeout", "1", config)

    assert done.code == 4
    errors = {one["server"]["name"]: one["error"] for one in done.json["servers"]}
    assert errors.pop("none")["code"] == "command-not-found"
    for mode, (code, said) in FAILURES.items():
        assert errors[mode]["code"] == code
        assert said in errors[mode]["what"]
    assert len(done.err.splitlines()) == len(FAILURES) + 1
    assert all("error" in json.loads(line) for line in done.err.splitlines())


@pytest.mark.parametrize("mode", ["exits", "garbage-exits"])
@pytest.mark.process
def test_one_command_that_is_no_server_leaves_stdout_empty(mode: str) -> None:
    done = sayso("inspect", "--json", "--", *python(mode))

    assert (done.code, done.out) == (4, "")
    assert done.error["code"] == FAILURES[mode][0]


@pytest.mark.process
def test_what_is_wrong_with_a_server_is_also_told_in_words() -> None:
    done = sayso("inspect", "--", "no-such-command-here")

    assert (done.code, done.out) == (4, "")
    assert done.err == (
        "sayso: no-such-command-here: the command “no-such-command-here” was not found\n"
        "Install the command, or write its full path.\n"
        "docs/guides/troubleshooting.md#command-not-found\n"
    )


def answering(status: int, kind: str) -> Answer:
    return lambda exchange: exchange.reply(status, "{}", kind)


def test_every_url_that_is_no_server_is_told(tmp_path: Path) -> None:
    answers = {
        "html": (answering(200, "text/html"), "not-mcp"),
        "path": (answering(404, "application/json"), "not-mcp"),
        "credentials": (answering(401, "text/plain"), "authentication"),
        "forbidden": (answering(403, "text/html"), "authentication"),
        "proxy": (answering(502, "text/html"), "unreachable"),
        "drops": (Exchange.drop, "unreachable"),
        "hangs": (Exchange.hang, "timed-out"),
    }
    with ExitStack() as stack:
        sites = {
            name: stack.enter_context(serve_web(any=answer)).url
            for name, (answer, _) in answers.items()
        }
        servers = {name: {"url": url} for name, url in sites.items()}
        config = write_json(tmp_path / "config.json", {"mcpServers": servers})
        done = sayso("inspect", "--json", "--timeout", "2", config)

    assert done.code == 4
    errors = {one["server"]["name"]: one["error"] for one in done.json["servers"]}
    assert {name: one["code"] for name, one in errors.items()} == {
        name: code for name, (_, code) in answers.items()
    }
    assert {name: one["where"] for name, one in errors.items()} == sites


def test_a_url_that_answers_a_web_page_is_told_in_words() -> None:
    with serve_web(any=answering(200, "text/html")) as site:
        done = sayso("inspect", site.url)

    assert (done.code, done.out) == (4, "")
    assert done.err == (
        f"sayso: {site.url}: the server does not answer as an MCP server "
        "(HTTP 200 with text/html)\n"
        "Is this the MCP endpoint? Its path is often /mcp.\n"
        "docs/guides/troubleshooting.md#not-mcp\n"
    )


def test_a_server_that_lists_only_for_who_has_credentials_wants_them() -> None:
    with serve_web(tools_list=lambda exchange: exchange.reply(401)) as site:
        done = sayso("inspect", "--json", site.url)

    assert (done.code, done.error["code"]) == (3, "authentication")


def test_a_url_that_refuses_is_told() -> None:
    with serve_web() as site:
        pass
    done = sayso("inspect", site.url)

    assert (done.code, done.out) == (4, "")
    assert "no connection" in done.err
    assert "Is the server running?" in done.err


def test_a_url_that_hangs_is_given_up_when_its_time_is_over() -> None:
    with serve_web(any=Exchange.hang) as site:
        begun = time.monotonic()
        done = sayso("inspect", "--json", "--timeout", "0.5", site.url)

    assert time.monotonic() - begun < 8
    assert (done.code, done.error["code"]) == (4, "timed-out")
    assert done.error["what"] == "no answer within 0.5 s"


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ('{\n  "mcpServers": {,}\n}', ":2:18", "the file is not JSON"),
        ('{"mcpServer": {"a": {"command": "x"}}}', ":1:2", "unknown key “mcpServer”"),
        ("{}", ":1:1", "the file names no servers"),
    ],
)
def test_a_mistake_in_a_configuration_is_told_with_its_place(
    tmp_path: Path, text: str, place: str, what: str
) -> None:
    config = tmp_path / "config.json"
    config.write_text(text)

    done = sayso("inspect", "--json", str(config))

    assert (done.code, done.out) == (2, "")
    assert done.error["where"] == f"{config}{place}"
    assert what in done.error["what"]
    assert done.error["fix"]


def test_a_target_that_is_none_is_told_with_what_was_meant(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")

    done = sayso("inspect", str(tmp_path / "confg.json"))

    assert done.code == 2
    assert f"Did you mean {tmp_path / 'config.json'}?" in done.err.replace("\n", " ")


NASTY = "get_\x1b[2J\x9b31m\u202e\u2066\u2028\nok: nothing wrong\r\x00\U000e0041"


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["table", "json"])
def test_what_steers_a_terminal_never_reaches_it(tmp_path: Path, options: tuple[str, ...]) -> None:
    nasty = tool(NASTY, title=NASTY, readOnlyHint=NASTY) | {"description": NASTY}
    # A lone surrogate stands in no UTF-8: no fingerprint can be taken of such a tool.
    broken = tool("get_\ud800")
    saved = {"server": {"version": NASTY}, "tools": [nasty, broken]}

    done = sayso("inspect", *options, write_json(tmp_path / "tools.json", saved))

    assert done.code == 1, done.err
    assert_harmless(done)
    if options:
        assert [one["name"] for one in done.json["tools"]] == [NASTY]
        assert len(done.json["problems"]) == 1
    else:
        assert "get_\\u001b[2J" in done.out.replace("\n", "")
        assert not any(line.startswith("ok:") for line in done.out.splitlines())


@pytest.mark.process
def test_what_a_server_prints_never_steers_a_terminal_either(tmp_path: Path) -> None:
    program = tmp_path / "nasty.py"
    program.write_text(f"import sys\nsys.exit({NASTY!r})\n")

    done = sayso("inspect", "--", sys.executable, str(program))

    assert done.code == 4
    assert "\\u001b[2J" in done.err
    assert_harmless(done)


def assert_harmless(done: Done) -> None:
    for text in (done.out, done.err):
        unseen = {char for char in text if unicodedata.category(char) in ("Cc", "Cf", "Zl", "Cs")}
        assert unseen <= {"\n"}


@pytest.mark.process
def test_progress_is_shown_only_on_a_terminal() -> None:
    words = ("inspect", "--json", "--timeout", "0.5", "--", *python("silent"))
    ours, theirs = pty.openpty()
    with open(ours, "rb", closefd=True, buffering=0) as terminal:  # noqa: PTH123 - a descriptor
        process = subprocess.Popen(
            [*COMMAND, *words], env=environment(TERM="xterm"), stdout=subprocess.PIPE, stderr=theirs
        )
        os.close(theirs)
        said = b""
        try:
            while chunk := terminal.read(1024):
                said += chunk
        except OSError:
            pass  # how a terminal says that nobody is left
        out, _ = process.communicate(timeout=60)
    assert b"Listing tools" in said
    assert (process.returncode, out) == (4, b"")


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["table", "json"])
@pytest.mark.process
def test_a_reader_that_has_read_enough_is_no_error(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    tools = [tool(f"get_{number}", readOnlyHint=True) for number in range(2000)]
    saved = write_json(tmp_path / "tools.json", tools)
    ours, theirs = os.pipe()
    os.close(ours)

    done = subprocess.run(
        [*COMMAND, "inspect", *options, saved],
        env=environment(),
        stdout=theirs,
        stderr=subprocess.PIPE,
        timeout=120,
        check=False,
    )
    os.close(theirs)

    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.process
def test_an_interrupt_ends_it_with_130_and_its_server_too(tmp_path: Path) -> None:
    program = tmp_path / "slow.py"
    program.write_text(
        "import os, pathlib, sys, time\n"
        f"pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid()))\n"
        "sys.stdin.read()\n"
    )
    with started("inspect", "--", sys.executable, str(program), waits=False) as run:
        pid = until_written(tmp_path / "pid")
        done = run.end(signal.SIGINT)

    assert (done.code, done.out, done.err) == (130, "", "")
    assert not is_running(pid)


def until_written(path: Path) -> int:
    """The number in a file that another process writes; bounded, since it must come."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if path.exists() and (text := path.read_text()):
            return int(text)
        time.sleep(0.02)
    raise TimeoutError(path)


def is_running(pid: int) -> bool:
    """Whether a process runs and is more than a number that nobody has collected."""
    words = ["ps", "-o", "stat=", "-p", str(pid)]
    state = subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
    return bool(state) and not state.startswith("Z")
