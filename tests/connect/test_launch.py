"""Serving a Python file: the server in it is found, and its author's mistakes are told."""

import io
import os
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import TextContent

import sayso
from sayso.connect import launch
from sayso.connect.launch import main, serve
from sayso.connect.pyfile import kind_of, load_server
from sayso.errors import TargetError

# Coverage measures child processes through variables of its own, so the whole environment goes.
ENVIRONMENT = dict(os.environ) | {"PYTHONPATH": str(Path(sayso.__file__).parents[1])}
# A buffered stdout is what a client's children have, and where stray output hides.
ENVIRONMENT.pop("PYTHONUNBUFFERED", None)

MCP_SERVER = """
from mcp.server import MCPServer

mcp = MCPServer("made with MCPServer")

@mcp.tool()
def add(a: int, b: int) -> int:
    print("a tool prints")
    return a + b
"""

FASTMCP = """
from fastmcp import FastMCP

anything = FastMCP("made with FastMCP")

@anything.tool
def add(a: int, b: int) -> int:
    print("a tool prints", flush=True)
    return a + b
"""

LOWLEVEL = """
from mcp.server.lowlevel import Server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

async def list_tools(ctx, params):
    return ListToolsResult(tools=[Tool(name="add", input_schema={"type": "object"})])

async def call_tool(ctx, params):
    return CallToolResult(content=[TextContent(type="text", text="5")])

app = Server("made with lowlevel", on_list_tools=list_tools, on_call_tool=call_tool)
"""

# What goes wrong with stdout and stdin while a file is loaded.
NOISE = """
import os, subprocess, sys
print("printed")
print("printed to __stdout__", file=sys.__stdout__)
os.write(1, b"written to the descriptor\\n")
subprocess.run([sys.executable, "-c", "print('printed by a child')"], check=True)
assert sys.stdin.read() == "", "a client's message"
sys.stdout = open(os.devnull, "w")
"""


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Loading a file is for a process of its own; what it leaves behind here is taken back."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    modules = set(sys.modules)
    yield
    for name in set(sys.modules) - modules:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def write(text: str, name: str = "server.py") -> str:
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text(text)
    return name


def refused(text: str, name: str | None = None, file: str = "server.py") -> str:
    """Return the error about a file; its place has a line of the file if that is known."""
    with pytest.raises(TargetError) as caught:
        load_server(write(text, file), name)
    return f"{caught.value.where}: {caught.value.what}"


def fix_for(text: str, name: str | None = None, file: str = "server.py") -> str:
    with pytest.raises(TargetError) as caught:
        load_server(write(text, file), name)
    return caught.value.fix or ""


def launched(*words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "sayso.connect.launch", *words],
        env=ENVIRONMENT,
        input=stdin,
        capture_output=True,
        timeout=60,
        check=False,
    )


# --- With a real client


def log_text() -> str:
    return Path("log").read_text()


async def added_by(stderr: Path, *words: str) -> str:
    """Return the result of the server's `add` for 2 and 3, with all of its stderr."""
    with stderr.open("w") as log:
        parameters = StdioServerParameters(
            command=sys.executable, args=["-m", "sayso.connect.launch", *words], env=ENVIRONMENT
        )
        async with Client(stdio_client(parameters, log)) as client:
            listed = await client.list_tools()
            assert [tool.name for tool in listed.tools] == ["add"]
            result = await client.call_tool("add", {"a": 2, "b": 3})
    (said,) = result.content
    assert isinstance(said, TextContent)
    return said.text


@pytest.mark.anyio
@pytest.mark.parametrize("text", [MCP_SERVER, FASTMCP, LOWLEVEL])
@pytest.mark.process
async def test_a_server_of_each_kind_is_served(
    text: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert await added_by(Path("log"), write(text)) == "5"
    assert "Failed to parse" not in capfd.readouterr().err


@pytest.mark.anyio
@pytest.mark.process
async def test_what_a_file_prints_does_not_reach_the_protocol(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert await added_by(Path("log"), write(NOISE + MCP_SERVER)) == "5"

    assert not caplog.records, "the client saw something that is no message"
    for said in ("printed\n", "printed to __stdout__", "to the descriptor", "by a child"):
        assert said in log_text()


@pytest.mark.anyio
@pytest.mark.process
async def test_a_file_that_starts_its_server_itself_is_served_all_the_same() -> None:
    assert await added_by(Path("log"), write(MCP_SERVER + "\nmcp.run()\n")) == "5"


@pytest.mark.anyio
@pytest.mark.process
async def test_a_named_object_is_served() -> None:
    write(MCP_SERVER + '\nmcp, other = MCPServer("empty"), mcp\n')

    assert await added_by(Path("log"), "server.py", "other") == "5"


# --- As a process


@pytest.mark.process
def test_a_mistake_is_one_line_on_stderr_and_exit_code_2() -> None:
    done = launched(write("import os\nboom\n"))

    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr == b"server.py:2: NameError: name 'boom' is not defined\n"


@pytest.mark.parametrize("words", [[], ["a.py", "b", "c"]])
@pytest.mark.process
def test_other_words_are_met_with_the_right_ones(words: list[str]) -> None:
    done = launched(*words)

    assert done.returncode == 2
    assert b"python -m sayso.connect.launch FILE [OBJECT]" in done.stderr


@pytest.mark.process
def test_a_client_that_hangs_up_ends_the_server_without_a_word() -> None:
    done = launched(write(MCP_SERVER))

    assert (done.returncode, done.stdout) == (0, b"")


@pytest.mark.process
def test_what_is_printed_while_serving_does_not_reach_the_protocol_at_the_end() -> None:
    text = """
import contextlib
from mcp.server import MCPServer

@contextlib.asynccontextmanager
async def lifespan(server):
    print("printed while serving")
    yield

mcp = MCPServer("x", lifespan=lifespan)
"""
    done = launched(write(text))

    assert (done.returncode, done.stdout) == (0, b"")
    assert b"printed while serving" in done.stderr


@pytest.mark.process
def test_an_interrupt_ends_it_without_a_trace() -> None:
    done = launched(write("raise KeyboardInterrupt"))

    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@pytest.mark.process
def test_an_error_while_serving_is_told_with_its_line() -> None:
    lifespan = """
import contextlib
from mcp.server import MCPServer

@contextlib.asynccontextmanager
async def lifespan(server):
    raise OSError("no database")
    yield

mcp = MCPServer("x", lifespan=lifespan)
"""
    hello = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
    done = launched(write(lifespan), stdin=hello)

    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == b"server.py:7: OSError: no database"


# --- In this process, where all of it can be looked at


@pytest.mark.parametrize("text", [MCP_SERVER, FASTMCP, LOWLEVEL])
def test_serving_ends_when_the_client_has_hung_up(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("stdin", "stdout"):  # no descriptors: the SDK then takes them as they are
        monkeypatch.setattr(sys, name, io.TextIOWrapper(io.BytesIO()))

    serve(load_server(write(text)))
    assert main([write(text, "other.py")]) == 0


def test_main_tells_a_mistake_and_returns_its_exit_code(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert main([write("print('said')\n1 / 0")]) == 2
    assert main([]) == 2
    assert main([write("raise KeyboardInterrupt", "other.py")]) == 130

    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("said\nserver.py:2: ZeroDivisionError: division by zero\n")


def test_a_stream_that_the_file_has_closed_does_no_harm(capfd: pytest.CaptureFixture[str]) -> None:
    assert main([write("import sys\nsys.stdout.close()\nboom")]) == 2
    assert "server.py:3: NameError" in capfd.readouterr().err


def test_one_server_under_two_names_is_one_server() -> None:
    server = load_server(write(MCP_SERVER + "\nalias = mcp\n"))

    assert kind_of(server) == "MCPServer"


@pytest.mark.parametrize("name", ["mcp", "server", "app"])
def test_of_several_servers_the_one_with_the_usual_name_is_served(name: str) -> None:
    text = f"from mcp.server import MCPServer\na, {name}, z = (MCPServer(n) for n in 'axz')"

    assert getattr(load_server(write(text)), "name", None) == "x"


def test_of_several_servers_with_unusual_names_one_must_be_named() -> None:
    text = "from mcp.server import MCPServer\nb, a = MCPServer('b'), MCPServer('a')"

    assert refused(text) == "server.py: the file has several servers: a, b"
    assert fix_for(text, file="x.py") == "Name one: x.py:a."


def test_a_file_without_a_server_is_told_how_to_name_a_function() -> None:
    assert refused("class MCPServer: ...\nmcp = MCPServer()") == (
        "server.py: the file has no global that is an MCPServer, a FastMCP or a lowlevel Server"
    )
    assert "server.py:create_server" in fix_for("")


@pytest.mark.parametrize("name", ["mcp", "make", "Own"], ids=["an object", "a function", "a class"])
def test_a_name_may_be_a_server_or_what_makes_one(name: str) -> None:
    text = f"""{MCP_SERVER}
def make(name="x"):
    return MCPServer(name)

class Own(MCPServer):
    pass
"""
    assert kind_of(load_server(write(text), name)) == "MCPServer"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "server.py: the file has no object “make”"),
        ("make = 7", "server.py: “make” is of type int"),
        ("def make(): return 7", "server.py: “make” returned an object of type int"),
        ("def make(a): ...", "server.py: “make” cannot be called without arguments"),
        ("make = dict.fromkeys", "server.py: “make” cannot be called without arguments"),
        ("async def make(): ...", "server.py: “make” is an async function"),
        (
            "def make():\n    return nothing",
            "server.py:2: NameError: name 'nothing' is not defined",
        ),
    ],
)
def test_a_name_that_gives_no_server_is_told(text: str, error: str) -> None:
    assert refused(text, "make") == error


def test_a_name_that_is_not_there_is_met_with_one_like_it() -> None:
    assert fix_for("maker = 1", "make") == "Did you mean server.py:maker?"
    assert fix_for("", "nothing_like_it", "x.py") == "Name a global of the file."


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("x = (\n", "server.py:1: SyntaxError: '(' was never closed"),
        ("\n\nraise ValueError", "server.py:3: ValueError"),
        ("\nraise ValueError('one\\ntwo')", "server.py:2: ValueError: one"),
        ("import json\njson.loads('{')", "server.py:2: JSONDecodeError: Expecting property name"),
        ("\nexit(3)", "server.py:2: SystemExit: 3"),
        ("import ast\nast.parse('x = (')", "server.py:2: SyntaxError: '(' was never closed"),
        ("raise ExceptionGroup('g', [OSError('inner')])", "server.py: OSError: inner"),
        ("import no_such_module", "server.py:1: ModuleNotFoundError: No module named 'no_such"),
        ("\nfrom . import x", "server.py:2: ImportError: attempted relative import"),
        ("raise ModuleNotFoundError('odd')", "server.py:1: ModuleNotFoundError: odd"),
    ],
)
def test_what_a_file_raises_is_told_with_its_line(text: str, error: str) -> None:
    assert refused(text).startswith(error)


def test_a_mistake_in_a_neighbour_is_told_with_the_neighbours_line() -> None:
    write("def f():\n    boom", "sub/neighbour.py")
    assert refused("import neighbour\nneighbour.f()", file="sub/server.py") == (
        "sub/neighbour.py:2: NameError: name 'boom' is not defined"
    )

    write("x = (", "sub/broken.py")
    assert refused("import broken", file="sub/other.py") == (
        "sub/broken.py:1: SyntaxError: '(' was never closed"
    )


def test_an_installed_package_is_not_the_authors_own_code() -> None:
    Path("venv/site-packages").mkdir(parents=True)
    write("def f():\n    boom", "venv/site-packages/installed.py")
    text = "import sys\nsys.path.append('venv/site-packages')\nimport installed\ninstalled.f()"

    assert refused(text) == "server.py:4: NameError: name 'boom' is not defined"


def test_errors_with_a_known_cure_are_met_with_it() -> None:
    assert fix_for("import no_such_module", file="x.py") == (
        "If another Python has no_such_module, start that: -- THAT/bin/python x.py."
    )
    assert "-- python -m PACKAGE.MODULE" in fix_for("from . import x")
    assert "must not exit" in fix_for("exit()")
    assert fix_for("import no_such.part", file="no_such.py") == (
        "The file hides the package no_such: give it another name."
    )


@pytest.mark.parametrize("path", ["missing.py", "folder.py", "server.txt"])
def test_what_is_no_python_file_is_told(path: str) -> None:
    Path("folder.py").mkdir()
    Path("server.txt").touch()

    with pytest.raises(TargetError, match=f"{path}: there is no such Python file"):
        load_server(path)


def test_a_file_runs_as_a_script_would_but_is_not_the_main_module() -> None:
    text = """
import sys
from mcp.server import MCPServer
import neighbour

server = MCPServer(f"{__name__} {sys.argv} {sys.path[0] == neighbour.FOLDER}")
"""
    write("import os\nFOLDER = os.path.dirname(__file__)", "sub/neighbour.py")
    server = load_server(write(text, "sub/of_its_own.py"))

    assert getattr(server, "name", None) == "of_its_own ['sub/of_its_own.py'] True"


def test_a_file_takes_the_place_of_no_other_module() -> None:
    server = load_server(write(MCP_SERVER.replace('"made with MCPServer"', "__name__"), "json.py"))

    assert getattr(server, "name", None) == "_sayso_json"
    assert hasattr(sys.modules["json"], "loads")


def test_the_module_is_a_program_that_takes_a_file_and_an_object(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["launch", "missing.py", "mcp"])

    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(launch.__file__), run_name="__main__")

    assert ended.value.code == TargetError.exit_code
    assert "missing.py" in capsys.readouterr().err
