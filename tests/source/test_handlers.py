"""Effects of handlers, read from their source, and look-alikes."""

import sys
from pathlib import Path

import pytest

import sayso.demo
from sayso.errors import ConfigError
from sayso.intent import LOOSER, HintName, Hints
from sayso.source import Handler, Kind, read_handlers

HEAD = """\
import aiohttp, asyncio, functools, gzip, httpx, io, os, pathlib, requests, shutil, smtplib, socket
import sqlalchemy, sqlite3, subprocess, tarfile, tempfile, urllib.request, zipfile
from pathlib import Path
from mcp.server import MCPServer

mcp = MCPServer("server")
HOME = Path("~/notes")
CACHE_DIR = Path("~/.cache/notes")
API = "https://api.example.com/v1"
QUERY = "SELECT 1"
database = sqlite3.connect("notes.db")


"""


def read(body: str, *, given: str = "path: str, text: str", head: str = HEAD) -> Handler:
    """The handler of one tool with this body."""
    indented = "\n".join(f"    {line}" for line in body.strip().split("\n"))
    (found,) = read_handlers(
        {"server.py": f"{head}@mcp.tool()\nasync def a({given}):\n{indented}\n"}
    )
    assert found.name == "a"
    return found


def kinds(found: Handler) -> set[str]:
    return {str(effect.kind) for effect in found.effects}


EFFECTS = [
    ("open(path, 'w').write(text)", "writes-file"),
    ("open(path, mode='ab')", "writes-file"),
    ("with open(path, 'r+') as file:\n    file.write(text)", "writes-file"),
    ("io.open(path, 'x')", "writes-file"),
    ("gzip.open(path, 'wt')", "writes-file"),
    ("zipfile.ZipFile(path, 'a')", "writes-file"),
    ("tarfile.open(path, 'w:gz')", "writes-file"),
    ("Path(path).write_text(text)", "writes-file"),
    ("(HOME / path).write_bytes(b'')", "writes-file"),
    ("HOME.joinpath(path).with_suffix('.md').open('w')", "writes-file"),
    ("Path(path).parent.mkdir(parents=True, exist_ok=True)", "writes-file"),
    ("Path(path).rename(text)", "writes-file"),
    ("pathlib.Path(path).expanduser().touch()", "writes-file"),
    ("os.rename(path, text)", "writes-file"),
    ("os.makedirs(os.path.join(path, text))", "writes-file"),
    ("shutil.copy(path, text)", "writes-file"),
    ("shutil.move(path, dst=text)", "writes-file"),
    ("frame.to_csv(path)", "writes-file"),
    ("mode = 'w'\nopen(path, mode)", "writes-file"),
    ("Path(path).unlink()", "deletes-file"),
    ("for one in HOME.glob('*'):\n    os.remove(one)", "deletes-file"),
    ("shutil.rmtree(path)", "deletes-file"),
    ("os.unlink(path)", "deletes-file"),
    ("database.execute('INSERT INTO notes VALUES (?)', (text,))", "writes-rows"),
    ("database.executemany('update notes set text = ?', [])", "writes-rows"),
    ("database.execute(f'REPLACE INTO {path} VALUES (1)')", "writes-rows"),
    ("database.execute(sql='ALTER TABLE notes ADD x')", "writes-rows"),
    ("database.execute('WITH x AS (SELECT 1) INSERT INTO notes SELECT * FROM x')", "writes-rows"),
    ("sql = 'UPDATE notes'\nsql += ' SET text = 1'\ndatabase.execute(sql)", "writes-rows"),
    ("await text.fetchrow('INSERT INTO notes VALUES ($1) RETURNING id', path)", "writes-rows"),
    ("text.execute(sqlalchemy.text('UPDATE notes SET a = 1'))", "writes-rows"),
    ("text.execute(sqlalchemy.insert(path).values(a=1))", "writes-rows"),
    ("text.notes.update_one({}, {})", "writes-rows"),
    ("database.execute('DELETE FROM notes WHERE id = %s' % path)", "deletes-rows"),
    ("database.executescript('SELECT 1; -- ok\\n DROP TABLE notes')", "deletes-rows"),
    ("database.cursor().execute('TRUNCATE notes')", "deletes-rows"),
    ("text.execute(sqlalchemy.delete(path).where(path))", "deletes-rows"),
    ("text.notes.delete_many({})", "deletes-rows"),
    ("requests.post(API, data=text)", "posts"),
    ("requests.request('PUT', API)", "posts"),
    ("requests.Session().patch(API + '/notes')", "posts"),
    ("async with httpx.AsyncClient(base_url=API) as web:\n    await web.post('/notes')", "posts"),
    ("async with aiohttp.ClientSession() as web:\n    await web.post(API)", "posts"),
    ("urllib.request.urlopen(API, text.encode())", "posts"),
    ("urllib.request.urlopen(urllib.request.Request(API, method='PUT'))", "posts"),
    ("urllib.request.urlopen(urllib.request.Request(API, data=b''))", "posts"),
    ("httpx.delete(f'{API}/notes/{path}')", "deletes-remote"),
    ("httpx.get(API)", "fetches"),
    ("urllib.request.urlopen(path)", "fetches"),
    ("httpx.Client().stream('GET', API)", "fetches"),
    ("socket.create_connection(('example.com', 80))", "connects"),
    ("await asyncio.open_connection(path, 80)", "connects"),
    ("await aiohttp.ClientSession().ws_connect('wss://example.com/a')", "connects"),
    ("with smtplib.SMTP('mail') as mail:\n    mail.send_message(text)", "mails"),
    ("subprocess.run(['rm', '-r', path], check=True)", "spawns"),
    ("os.system(f'convert {path}')", "spawns"),
    ("await asyncio.create_subprocess_exec('make', path)", "spawns"),
    ("subprocess.run('ls > list.txt', shell=True)", "spawns"),
    ("subprocess.check_output(['git', 'push'])", "spawns"),
    ("subprocess.run([*path, text])", "spawns"),
    ("subprocess.run(path.split())", "spawns"),
    ("os.kill(1, 9)", "signals"),
    ("return eval(text)", "evaluates"),
    ("exec(text)", "evaluates"),
    ("Path.home().joinpath(path).unlink()", "deletes-file"),
    ("import aiosmtplib\nawait aiosmtplib.send(text)", "mails"),
    ("open(**{'mode': 'w'}, file=path, mode='w')", "writes-file"),
    ("database.execute('DELETE FROM {}'.format(path))", "deletes-rows"),
    ("subprocess.run(['rm'] + ['-r', path])", "spawns"),
    ("subprocess.run(['rm'] + path)", "spawns"),
    ("subprocess.run('rm -r x', shell=True)", "spawns"),
    ("sql = (\n    'UPDATE notes '\n    'SET a = 1'\n)\ndatabase.execute(sql)", "writes-rows"),
]


@pytest.mark.parametrize(("body", "kind"), EFFECTS)
def test_an_effect_is_seen_with_its_line(body: str, kind: str) -> None:
    found = read(body)

    assert kinds(found) == {kind}, found
    lines = (HEAD + "@\n" + "def\n").count("\n")
    assert all(lines < effect.line <= lines + body.count("\n") + 1 for effect in found.effects)
    assert all(effect.chain == ("a",) for effect in found.effects)


NEARLY = [
    ("open(path).read()", ""),
    ("open(path, 'rb')", ""),
    ("open(path, encoding='w')", ""),
    ("Path(path).open('r')", ""),
    ("zipfile.ZipFile(path)", ""),
    ("text.replace('a', 'b')", ""),
    ("Path(path).replace", ""),
    ("tempfile.NamedTemporaryFile('w').write(text)", ""),
    (
        "with tempfile.TemporaryDirectory() as made:\n    Path(made, path).write_text(text)",
        "temporary",
    ),
    ("made = tempfile.mkdtemp()\nopen(os.path.join(made, path), 'w')", "temporary"),
    ("open(f'/tmp/{path}', 'w')", "temporary"),
    ("zipfile.ZipFile(io.BytesIO(), 'w').writestr('a', text)", "memory"),
    ("open(os.devnull, 'w')", "?"),
    ("(CACHE_DIR / f'{path}.json').write_text(text)", "own"),
    ("cache_path = HOME / 'x'\ncache_path.unlink()", "own"),
    ("log_file = 'calls.txt'\nopen(log_file, 'a')", "own"),
    ("HOME.mkdir(parents=True, exist_ok=True)", "creates a missing folder"),
    ("database.execute('SELECT * FROM notes WHERE text = \"DELETE FROM x\"')", ""),
    ("database.execute(\"SELECT 'INSERT INTO notes; DROP TABLE x'\")", ""),
    ("database.execute(QUERY)", ""),
    ("database.execute('PRAGMA user_version')", ""),
    ("database.execute('EXPLAIN DELETE FROM notes')", ""),
    ("database.execute('WITH x AS (SELECT 1) SELECT * FROM x')", ""),
    ("database.execute('CREATE TABLE IF NOT EXISTS notes (a)')", "creates missing tables"),
    ("database.execute('INSERT INTO cache VALUES (1)')", "own"),
    ("database.execute('INSERT INTO audit_log VALUES (1)')", "own"),
    ("sqlite3.connect(':memory:').execute('INSERT INTO notes VALUES (1)')", "memory"),
    ("text.execute(sqlalchemy.select(path))", ""),
    ("httpx.get('http://127.0.0.1:8000/a')", "stays on this machine"),
    ("httpx.get('http://database:8000/a')", "stays on this machine"),
    ("httpx.get('http://10.1.2.3/a')", "stays on this machine"),
    ("httpx.codes.get(200)", "?"),
    ("subprocess.run(['git', 'status', '--short'], check=True)", "only reads"),
    ("subprocess.run(['ls', path])", "only reads"),
    ("subprocess.check_output('uname -a', shell=True)", "only reads"),
    ("await asyncio.create_subprocess_exec('ffmpeg', '--version')", "only reads"),
    ("import ast\nast.literal_eval(text)", ""),
    ("text.eval()", "?"),
    ("frame = [path]\nframe.remove(path)", ""),
    ("def never():\n    os.remove(path)", ""),
    ("return\nos.remove(path)", ""),
    ("{'a': 1}.update(b=2)", ""),
    ("print(text)", ""),
    ("with smtplib.SMTP('mail') as mail:\n    mail.noop()", ""),
    ("frame = path.split()\nframe.to_csv()", ""),
    ("httpx.Client().close()", ""),
    ("database.execute(';')", ""),
    ("first, *rest = path.split()", ""),
    ("text.format(path)", ""),
    ("def write_cache(one):\n    open(one, 'w')\nwrite_cache(path)", "own"),
    ("if path == 'x' or text:\n    return\nelse:\n    return\nos.remove(path)", ""),
    ("if 'a' == 'b':\n    os.remove(path)", ""),
    ("if not 'a' == 'a':\n    os.remove(path)", ""),
    ("if 'a' not in ('a', 'b'):\n    os.remove(path)", ""),
    ("match 'a':\n    case 'b' | 'c':\n        os.remove(path)", ""),
]


@pytest.mark.parametrize(("body", "why"), NEARLY)
def test_what_only_looks_like_one_is_not_accused(body: str, why: str) -> None:
    found = read(body)

    assert found.effects == ()
    if why == "?":
        return
    assert found.unknown == () or "text." in body, found.unknown
    assert [note.why for note in found.ignored if why not in note.why] == []
    assert bool(found.ignored) == bool(why)


UNKNOWN = [
    ("open(path, text)", "mode"),
    ("mode = 'r'\nif text:\n    mode = 'w'\nopen(path, mode)", "mode"),
    ("database.execute(text)", "built at run time"),
    ("database.execute('CALL clean()')", "the effect of CALL"),
    ("text(path)", "found at run time"),
    ("getattr(os, text)(path)", "found at run time"),
    ("HANDLERS[path](text)", "found at run time"),
    ("import git\ngit.Repo(path).index.commit(text)", "is unknown"),
    ("text.save()", "the object is unknown"),
    ("requests.request(path, API)", "HTTP method"),
    ("httpx.post(f'{API}/graphql', json={'query': text})", "may only query"),
    ("httpx.post(f'{API}/notes/_search')", "may only query"),
    ("import shelve\nshelve.open(path)", "is unknown"),
    ("def search(url):\n    requests.post(url)\nsearch(API)", "it may only query"),
    ("getattr(path)(text)", "found at run time"),
    ("text()()", "found at run time"),
]


@pytest.mark.parametrize(("body", "why"), UNKNOWN)
def test_what_cannot_be_told_is_said_and_not_guessed(body: str, why: str) -> None:
    found = read(body, given="path, text")

    assert kinds(found) <= {"fetches"}
    assert any(why in note.why for note in found.unknown), found.unknown


FOLLOWED = """\
import asyncio, functools, os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Optional
from mcp.server import MCPServer

mcp = MCPServer("server")


def wipe(path):
    os.remove(path)


def again(path, depth=0):
    if depth:
        again(path, depth - 1)
    wipe(path)


class Base:
    def inherited(self):
        wipe("a")


@dataclass
class Box(Base):
    folder: Path
    other: "Optional[Box]" = None

    def __post_init__(self):
        self.later = wipe

    def clear(self):
        self.folder.unlink()

    @property
    def emptied(self):
        return self.clear()

    @classmethod
    def all(cls):
        wipe("a")

    def deep(self):
        self.other.clear()


class Opening:
    def __enter__(self):
        wipe("a")
        return Box(Path("x"))

    def __exit__(self, *_):
        ...


@contextmanager
def box():
    made = Box(Path("a"))
    yield made


def make():
    return Box(Path("a"))


def guarded(function):
    @functools.wraps(function)
    def wrapper(*args):
        wipe("a")
        return function(*args)
    return wrapper


def named(name):
    def decorator(function):
        return function
    return decorator


class Names:
    GO = "go"


TABLE = {"wipe": wipe, "keep": print}
shared = Box(Path("a"))
"""

WAYS = [
    ("wipe('x')", ("a", "wipe")),
    ("again('x')", ("a", "again", "wipe")),
    ("Box(Path('x')).clear()", ("a", "Box.clear")),
    ("one = make()\none.clear()", ("a", "Box.clear")),
    ("with box() as one:\n    one.clear()", ("a", "Box.clear")),
    ("with Opening() as one:\n    pass", ("a", "Opening.__enter__", "wipe")),
    ("shared.emptied", ("a", "Box.emptied", "Box.clear")),
    ("shared.inherited()", ("a", "Box.inherited", "wipe")),
    ("shared.deep()", ("a", "Box.deep", "Box.clear")),
    ("Box.all()", ("a", "all", "wipe")),
    ("await asyncio.to_thread(wipe, 'x')", ("a", "wipe")),
    ("functools.partial(wipe, 'x')()", ("a", "wipe")),
    ("loop.run_in_executor(None, wipe, 'x')", ("a", "wipe")),
    ("TABLE['wipe']('x')", ("a", "wipe")),
    ("TABLE.get('wipe')('x')", ("a", "wipe")),
    ("(lambda: wipe('x'))()", ("a", "lambda", "wipe")),
    ("def inner():\n    wipe('x')\ninner()", ("a", "inner", "wipe")),
    ("class Inner:\n    def go(self):\n        wipe('x')\nInner().go()", ("a", "Inner.go", "wipe")),
    ("[wipe(one) for one in given]", ("a", "wipe")),
    ("{one: wipe(one) for one in given if one}", ("a", "wipe")),
    ("match given:\n    case 'a':\n        pass\n    case _:\n        wipe('x')", ("a", "wipe")),
    ("try:\n    pass\nexcept OSError:\n    wipe('x')", ("a", "wipe")),
    ("while (found := given):\n    wipe(found)", ("a", "wipe")),
    ("getattr(shared, 'clear')()", ("a", "Box.clear")),
    ("one = Box(Path('x')) if given else None\none.clear()", ("a", "Box.clear")),
    ("one = given or shared\none.clear()", ("a", "Box.clear")),
    ("for one in (shared, shared):\n    one.clear()\n    one.clear()", ("a", "Box.clear")),
    ("match Names['GO']:\n    case 'go':\n        wipe('x')", ("a", "wipe")),
    ("list(map(lambda one: wipe(one), given))", ("a", "lambda", "wipe")),
    ("if given in TABLE:\n    wipe(given)", ("a", "wipe")),
    ("if 'a' in given:\n    wipe(given)", ("a", "wipe")),
    ("if 'a' in [given]:\n    wipe(given)", ("a", "wipe")),
    ("match given:\n    case [_, 'a'] if loop:\n        wipe('x')", ("a", "wipe")),
    ("global shared\nshared = shared\nshared.clear()", ("a", "Box.clear")),
    ("x: int = 1\nif not x:\n    raise ValueError(wipe('x'))", ("a", "wipe")),
]


@pytest.mark.parametrize(("body", "chain"), WAYS)
def test_calls_are_followed_and_the_way_is_told(body: str, chain: tuple[str, ...]) -> None:
    found = read(body, given="given, loop", head=FOLLOWED)

    (effect,) = found.effects
    assert effect.kind is Kind.DELETES_FILE
    assert effect.chain == chain
    there = "os.remove(path)" if chain[-1] == "wipe" else "self.folder.unlink()"
    assert FOLLOWED.split("\n")[effect.line - 1].strip() == there


def test_a_decorator_at_hand_is_part_of_the_handler() -> None:
    source = f"{FOLLOWED}\n@mcp.tool()\n@guarded\ndef a():\n    pass\n"
    source += "@mcp.tool()\n@named('b')\ndef b():\n    pass\n"
    source += "def kept(function):\n    TABLE['c'] = function\n"
    source += "@mcp.tool()\n@kept\ndef c():\n    pass\n"

    one, *others = read_handlers({"server.py": source})

    assert kinds(one) == {"deletes-file"}
    assert [kinds(other) for other in others] == [set(), set()]


@pytest.mark.parametrize(
    "given",
    [
        "path: Path",
        "path: Annotated[Path, 1]",
        "path: 'Path | None'",
        "path: Optional[Path]",
        "path: typing.Union[None, Path]",
    ],
)
def test_parameters_are_what_their_annotations_say(given: str) -> None:
    found = read("path.rmdir()", given=given, head=f"import typing\n{FOLLOWED}")
    assert kinds(found) == {"deletes-file"}


@pytest.mark.parametrize("given", ["box: '('", "box: list[Box]", "box: dict", "box: 1", "box"])
def test_what_annotations_do_not_say_is_not_guessed(given: str) -> None:
    assert read("box.clear()", given=given, head=FOLLOWED).effects == ()
    assert kinds(read("box.clear()", given="box: Box", head=FOLLOWED)) == {"deletes-file"}


LOW = """\
from mcp.server.lowlevel import Server
from mcp.types import Tool
import os
from enum import Enum


class Names(str, Enum):
    KEEP = "keep"


TOOLS = [Tool(name="wipe"), Tool(name=Names.KEEP), Tool(name="send"), Tool(name="rest")]


async def send(arguments):
    os.rename("a", "b")


HANDLERS = {"send": send}
"""
NEW = """
async def run(context, params):
    if params.name == "wipe":
        os.remove("a")
    elif params.name == Names.KEEP:
        return open("a").read()
    elif params.name in HANDLERS:
        return await HANDLERS[params.name](params.arguments)
    else:
        raise ValueError


server = Server("s", on_call_tool=run)
"""
OLD = """
server = Server("s")


@server.call_tool()
async def run(name, arguments):
    match name:
        case "wipe" | "clean":
            os.remove("a")
        case Names.KEEP:
            return open("a").read()
        case "send":
            return await HANDLERS[name](arguments)
    if name != "rest":
        return None
    return None
"""


@pytest.mark.parametrize("dispatch", [NEW, OLD])
def test_of_one_function_for_all_tools_each_has_its_part(dispatch: str) -> None:
    found = {handler.name: handler for handler in read_handlers({"server.py": LOW + dispatch})}

    assert {name: kinds(handler) for name, handler in found.items()} == {
        "wipe": {"deletes-file"},
        "keep": set(),
        "send": {"writes-file"},
        "rest": set(),
    }
    assert found["wipe"].line == 11


def test_the_demo_is_read_over_all_its_files_and_says_the_truth() -> None:
    folder = Path(sayso.demo.__file__).parent
    files = {str(path): path.read_text() for path in folder.glob("*.py")}

    found = {handler.name: handler for handler in read_handlers(files)}

    assert {name: kinds(handler) for name, handler in found.items()} == {
        "customers_list": set(),
        "customers_get": set(),
        "customer_create": {"writes-rows"},
        "customer_delete": {"deletes-rows"},
        "invoice_create_draft": {"writes-rows"},
        "invoice_send": {"writes-rows"},
        "migrate_database": {"writes-rows"},
        "web_search": set(),
    }


def test_a_real_server_on_a_library_is_told_as_far_as_it_can_be() -> None:
    import mcp_server_git.server as real

    found = {
        handler.name: handler
        for handler in read_handlers({"server.py": Path(real.__file__).read_text()})
    }

    assert len(found) == 12
    assert {name for name, handler in found.items() if handler.effects} == {"git_commit"}
    assert all(any("git.Repo" in note.why for note in each.unknown) for each in found.values())
    removed = {effect.chain for effect in found["git_commit"].effects}
    assert removed == {("git_commit",), ("git_commit", "_apply_merge_autostash")} or all(
        "commit" in chain[0] for chain in removed
    )


OPEN = {"open_world"}
DECLARED = [
    (Hints(read_only=True), "HOME.unlink()", {"read_only"}),
    (Hints(read_only=True), "open(path, 'w')", {"read_only"}),
    (Hints(read_only=True), "httpx.post(path)", {"read_only"}),
    (Hints(read_only=True), "os.system(path)", {"read_only"}),
    (Hints(read_only=True), "eval(path)", {"read_only"}),
    (Hints(read_only=True), "httpx.get(path)", set()),
    (Hints(read_only=False), "HOME.unlink()", set()),
    (Hints(destructive=False), "HOME.unlink()", {"destructive"}),
    (Hints(destructive=False), "open(path, 'w')", set()),
    (Hints(destructive=True), "HOME.unlink()", set()),
    (Hints(open_world=False), "httpx.get(API)", {"open_world"}),
    (Hints(open_world=False), "httpx.get(path)", {"open_world"}),
    (Hints(open_world=False), "httpx.get(os.environ['URL'])", set()),
    (Hints(open_world=False), "httpx.get(f'{os.environ[0]}/{path}')", set()),
    (Hints(open_world=False), "httpx.post('http://localhost/a')", set()),
    (Hints(open_world=True), "httpx.get(API)", set()),
    (Hints(open_world=False), "httpx.get('http://[/')", set()),
    (Hints(open_world=False), "httpx.get('https:')", set()),
    (Hints(open_world=False), "httpx.get(f'https://{path}.example.com')", OPEN),
    (Hints(open_world=False), "httpx.get(f'https://{os.environ[0]}.example.com')", set()),
    (Hints(), "HOME.unlink()", set()),
]


@pytest.mark.parametrize(("declared", "body", "hints"), DECLARED)
def test_an_effect_speaks_against_the_hints_that_it_breaks(
    declared: Hints, body: str, hints: set[str]
) -> None:
    (effect,) = read(body).effects or (None,)

    against = effect.against if effect else frozenset[HintName]()
    assert {name for name in against if declared[name] is LOOSER[name]} == hints


def test_the_verbs_of_http_are_told() -> None:
    found = read("httpx.put(API)\nhttpx.get(API)")
    assert {effect.verb for effect in found.effects} == {"PUT", "GET"}


def test_a_handler_that_is_not_found_is_said_to_be_unknown() -> None:
    source = "import other\nfrom fastmcp import FastMCP\nmcp = FastMCP()\n"
    source += "mcp.tool(other.run)(other.run)\n"
    (found,) = read_handlers({"server.py": source})

    assert found.effects == ()
    assert [note.why for note in found.unknown] == [
        "the tool's function is not found, or nested too deeply to follow"
    ]


def test_what_is_very_deep_or_turns_in_circles_ends() -> None:
    deep = "x = given" + ".a" * 480
    assert read(deep, given="given", head=FOLLOWED).unknown
    with pytest.raises(ConfigError, match="too deeply"):
        read("x = given" + ".a" * 5000, given="given", head=FOLLOWED)
    circle = "class A(B):\n    x = y\n    y = x\nclass B(A): ...\nA().z()"
    assert read(circle, given="given", head=FOLLOWED).effects == ()
    many = "\n".join(f"def f{at}(): f{at + 1}()" for at in range(100))
    assert read("f0()", given="", head=f"{FOLLOWED}\n{many}\n").effects == ()


def test_files_that_are_not_python_are_told() -> None:
    with pytest.raises(ConfigError, match=r"b\.py:1: invalid Python"):
        read_handlers({"a.py": "", "b.py": "def ("})


def test_nothing_of_the_files_is_run(tmp_path: Path) -> None:
    source = HEAD + f"open({str(tmp_path / 'x')!r}, 'w')\n@mcp.tool()\ndef a(): ...\n"

    read_handlers({"server.py": source})

    assert list(tmp_path.iterdir()) == []
    assert "sqlalchemy" not in sys.modules


SHOP = """\
import os
class Shop:
    @staticmethod
    def close():
        os.remove('a')
"""


@pytest.mark.parametrize(
    "way",
    [
        "import shop.inner\nCLOSE = shop.inner.Shop.close",
        "from shop import inner\nCLOSE = inner.Shop.close",
        "from shop.inner import Shop\nCLOSE = Shop.close",
        "from .inner import Shop as S\nCLOSE = S.close",
        "import shop.inner as other\nCLOSE = other.Shop.close",
        "from shop import Shop\nCLOSE = Shop.close",
    ],
)
def test_one_file_leads_to_another_by_any_way_of_importing(way: str) -> None:
    tool = "from mcp.server import MCPServer\nmcp = MCPServer('s')\n@mcp.tool()\ndef a():\n"
    files = {
        "src/shop/__init__.py": "from .inner import Shop",
        "src/shop/inner.py": SHOP,
        "src/shop/server.py": f"{way}\n{tool}    CLOSE()\n",
    }

    (found,) = read_handlers(files)

    assert [(effect.file, effect.line) for effect in found.effects] == [("src/shop/inner.py", 5)]


def test_a_file_with_the_name_of_a_library_is_not_taken_for_it() -> None:
    server = """\
import json
import requests
from fastmcp import FastMCP
mcp = FastMCP('s')
@mcp.tool
def a():
    json.dumps(1)
    requests.post('https://example.com')
"""
    files = {
        "shop/http/requests.py": "def post(url): ...\n",
        "shop/json.py": "def dumps(value):\n    open('a', 'w')\n",
        "shop/server.py": server,
    }

    (found,) = read_handlers(files)

    assert kinds(found) == {"posts"}


def test_the_one_dispatcher_may_stand_in_another_file() -> None:
    tools = "import mcp.types as types\nTOOL = types.Tool(name='wipe')\n"
    server = f"import os\nfrom mcp.server import Server\n{OLD}"

    (found,) = read_handlers({"tools.py": tools, "server.py": server})
    assert kinds(found) == {"deletes-file"}

    (found,) = read_handlers({"tools.py": tools, "server.py": server, "other.py": server})
    assert (found.effects, len(found.unknown)) == ((), 1)

    empty = "server = Server(on_call_tool=lambda: None)\n@server.list_tools()\ndef tools(): ..."
    (found,) = read_handlers({"tools.py": tools, "server.py": empty})
    assert found.effects == found.unknown == ()


def test_tools_of_a_class_know_their_object() -> None:
    source = """\
import os
from mcp.server import MCPServer
class Files:
    def __init__(self):
        self.mcp = MCPServer("files")
        self.mcp.add_tool(self.wipe)
        self.mcp.tool(name="held")(self.wipe)

        @self.mcp.tool()
        def inner():
            self.wipe()

    def wipe(self):
        os.remove("a")
"""

    found = {handler.name: handler for handler in read_handlers({"server.py": source})}

    assert sorted(found) == ["held", "inner", "wipe"]
    assert all(kinds(handler) == {"deletes-file"} for handler in found.values())
    assert found["wipe"].line == 13
