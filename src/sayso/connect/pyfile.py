"""The MCP server of a Python file: one of its globals, or the result of one of its functions."""

import contextlib
import difflib
import importlib.util
import inspect
import sys
import sysconfig
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Final, Literal, cast

from sayso.errors import TargetError
from sayso.extras import install_fix

Kind = Literal["MCPServer", "FastMCP", "Server"]

_HOMES: Final[Mapping[Kind, str]] = {
    "MCPServer": "mcp.server.mcpserver",
    "FastMCP": "fastmcp.server.server",
    "Server": "mcp.server.lowlevel",
}
_PREFERRED: Final = ("mcp", "server", "app")
_SERVERS: Final = "an MCPServer, a FastMCP or a lowlevel Server"
_NOT_THE_AUTHORS: Final = (Path(sysconfig.get_path("stdlib")), Path(__file__).parents[1])


def load_server(path: str, name: str | None = None) -> object:
    """Run the file at `path` as a module and return its server.

    With a `name`, the server is the global of that name, or the result of the function of that
    name. Without a `name`, it is the only global server, or else the one called mcp, server or app.
    Raises `TargetError`, also for any error in the file's code.
    """
    module = _load(path)
    if name is None:
        return _only_server(module, path)
    found: object = getattr(module, name, None)
    if found is None:
        fix = "Name a global of the file."
        for near in difflib.get_close_matches(name, vars(module), n=1):
            fix = f"Did you mean {path}:{near}?"
        raise TargetError(f"the file has no object “{name}”", where=path, fix=fix)
    if kind_of(found):
        return found
    if not (inspect.isroutine(found) or inspect.isclass(found)):
        what = f"“{name}” is of type {type(found).__name__}"
        raise TargetError(what, where=path, fix=f"It must be {_SERVERS}, or a function for one.")
    return _made_by(cast("Callable[[], object]", found), path, name)


def kind_of(value: object) -> Kind | None:
    """Return the kind of server that `value` is, or `None`. Imports nothing."""
    for kind, home in _HOMES.items():
        module = sys.modules.get(home)
        if module is not None and isinstance(value, getattr(module, kind)):
            return kind
    return None


@contextlib.contextmanager
def faults_told(path: str) -> Generator[None]:
    """Raise a `TargetError`, with the line, for any error of the file's own code."""
    try:
        yield
    except (Exception, SystemExit) as error:
        raise _fault(error, path) from error


def _load(path: str) -> ModuleType:
    """Import the file like a script: with its folder on the path and its name in argv."""
    file = Path(path).absolute()
    # Other files import it under its own name. If another module has that name, use a prefix.
    name = file.stem
    if name in sys.modules:
        name = f"_sayso_{name}"
    spec = importlib.util.spec_from_file_location(name, file)
    if not file.is_file() or spec is None or spec.loader is None:
        raise TargetError("there is no such Python file", where=path, fix="Correct the path.")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(file.parent))
    sys.argv = [path]
    sys.modules[name] = module
    with faults_told(path):
        spec.loader.exec_module(module)
    return module


def _only_server(module: ModuleType, path: str) -> object:
    servers = {name: value for name, value in vars(module).items() if kind_of(value)}
    if not servers:
        fix = f"If a function makes it, name the function: {path}:create_server."
        raise TargetError(f"the file has no global that is {_SERVERS}", where=path, fix=fix)
    if len({id(value) for value in servers.values()}) == 1:
        return next(iter(servers.values()))
    for name in _PREFERRED:
        if name in servers:
            return servers[name]
    names = sorted(servers)
    what = f"the file has several servers: {', '.join(names)}"
    raise TargetError(what, where=path, fix=f"Name one: {path}:{names[0]}.")


def _made_by(factory: Callable[[], object], path: str, name: str) -> object:
    try:
        inspect.signature(factory).bind()
    except (TypeError, ValueError) as error:
        what = f"“{name}” cannot be called without arguments"
        raise TargetError(what, where=path, fix="Name a function that needs none.") from error
    with faults_told(path):
        result = factory()
    if kind_of(result):
        return result
    what = f"“{name}” returned an object of type {type(result).__name__}"
    if inspect.iscoroutine(result):
        result.close()
        what = f"“{name}” is an async function"
    raise TargetError(what, where=path, fix=f"It must be {_SERVERS}, or return one.")


def _fault(error: BaseException, path: str) -> TargetError:
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    where = _line_of(error.__traceback__, path)
    reason = str(error).strip().partition("\n")[0]
    if isinstance(error, SyntaxError):
        reason = error.msg
        if error.filename and _is_own(error.filename, path):
            where = f"{_shown(error.filename, path)}:{error.lineno}"
    what = ": ".join(filter(None, (type(error).__name__, reason)))
    return TargetError(what, where=where, fix=_fix_for(error, path))


def _fix_for(error: BaseException, path: str) -> str | None:
    if isinstance(error, ModuleNotFoundError) and error.name:
        missing = error.name.partition(".")[0]
        if missing == Path(path).stem:
            return f"The file hides the package {missing}: give it another name."
        other = f"If another Python has {missing}, start that: -- THAT/bin/python {path}."
        return f"{install_fix(missing)} {other}" if missing in ("mcp", "fastmcp") else other
    if isinstance(error, ImportError) and "relative import" in str(error):
        return "For a module of a package: -- python -m PACKAGE.MODULE."
    if isinstance(error, SystemExit):
        return "The file must not exit while it is loaded or serves."
    return None


def _line_of(trace: TracebackType | None, path: str) -> str:
    """Return the innermost traceback line in the file or in a file beside it."""
    where = path
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if _is_own(file, path):
            where = f"{_shown(file, path)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return where


def _is_own(file: str, path: str) -> bool:
    found = Path(file)
    if not found.is_relative_to(Path(path).absolute().parent) or "site-packages" in found.parts:
        return False
    return not any(found.is_relative_to(folder) for folder in _NOT_THE_AUTHORS)


def _shown(file: str, path: str) -> str:
    return str(Path(path).parent / Path(file).relative_to(Path(path).absolute().parent))
