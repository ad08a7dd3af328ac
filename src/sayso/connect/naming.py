"""Names of servers, made from a command, a URL's host or a file's name."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_-]+")
_EXTENSION: Final = re.compile(
    r"\.(?:py|pyz|[cm]?[jt]sx?|jar|rb|php|sh|exe|cmd|bat|ps1|git)$", re.IGNORECASE
)
_VERSION: Final = re.compile(r"[@=<>!~\[:;#?].*", re.DOTALL)
_PYTHON: Final = re.compile(r"\A(?:(?:python|pypy)[\d.]*w?|py)\Z")


@dataclass(frozen=True, slots=True)
class _Runner:
    """A program that runs another program, and the words that may come before that program.

    `verbs` are the subcommands that run a program; empty if the runner needs none. `valued` are
    flags whose next word is their value. `module` are flags whose next word is the module to run.
    """

    verbs: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    module: frozenset[str] = frozenset()


def _runner(verbs: str = "", valued: str = "", module: str = "") -> _Runner:
    return _Runner(frozenset(verbs.split()), frozenset(valued.split()), frozenset(module.split()))


_NPX: Final = _runner(valued="-p --package -c --call -w --workspace --registry --prefix")
_UV_FLAGS: Final = (
    "--from --with --with-editable --with-requirements -w --python -p --index --index-url "
    "--default-index --extra-index-url -i --find-links -f --directory --project --env-file "
    "--extra --group --only-group --cache-dir --config-file --refresh-package --constraints -c"
)
_CONTAINER: Final = _runner(
    "run container",
    "-v --volume -e --env --env-file -p --publish --name --network --net --mount -w --workdir -u "
    "--user --entrypoint -l --label --platform --add-host --gpus -m --memory --cpus -h --hostname "
    "--device --tmpfs --pull --restart --security-opt --cap-add --cap-drop --ulimit --shm-size "
    "--volumes-from --dns --ip --log-driver --runtime --secret --userns",
)
_NODE_FLAGS: Final = (
    "-r --require --import --loader --experimental-loader -C --conditions -e --eval"
)

_RUNNERS: Final[Mapping[str, _Runner]] = {
    "npx": _NPX,
    "bunx": _NPX,
    "pnpx": _NPX,
    "npm": _runner("exec x", "-p --package -c --call -w --workspace --registry --prefix"),
    "pnpm": _runner("dlx exec", "--package -C --dir"),
    "yarn": _runner("dlx exec", "-p --package"),
    "bun": _runner("x run"),
    "uvx": _runner(valued=_UV_FLAGS),
    "uv": _runner("tool run x", _UV_FLAGS, "-m --module"),
    "pipx": _runner("run", "--spec --python --index-url -i --pip-args"),
    "python": _runner(valued="-W -X -c", module="-m"),
    "node": _runner(valued=_NODE_FLAGS),
    "tsx": _runner(valued=_NODE_FLAGS),
    "ts-node": _runner(valued="-P --project -r --require"),
    "deno": _runner("run", "-c --config --import-map"),
    "docker": _CONTAINER,
    "podman": _CONTAINER,
    "mcp": _runner("run dev", "-t --transport --with --with-editable -e -f --env-file -v"),
    "fastmcp": _runner("run dev", "-t --transport --with --with-editable -e --python --project"),
    "env": _runner(valued="-u --unset -C --chdir"),
    "cmd": _runner("/c /d /s"),
}


def name_of_command(words: Sequence[str]) -> str:
    """Return a name for the server that a command starts, from its package, module or script.

    >>> name_of_command(["npx", "-y", "@modelcontextprotocol/server-filesystem", "/tmp"])
    'server-filesystem'
    >>> name_of_command(["uv", "run", "--directory", "/srv", "python", "-m", "mcp_server_git"])
    'mcp_server_git'
    """
    rest = tuple(words)
    while (after := _after_runner(rest)) is not None:
        rest, is_module = after
        if is_module:
            return plain_name(rest[0])
    return plain_name(_bare(rest[0]))


def name_of_file(path: str) -> str:
    """Return a name for a server or a list in a file."""
    return plain_name(PurePath(path).stem)


def plain_name(text: str) -> str:
    """Return `text` with only letters, digits, `_` and `-` of ASCII; `server` if nothing is left.

    >>> plain_name("My Server (beta)")
    'My-Server-beta'
    """
    # Two underscores separate a server's name from a tool's, so a name has only single ones.
    return re.sub("_{2,}", "_", _NOT_IN_NAMES.sub("-", text)).strip("-_") or "server"


def _after_runner(words: tuple[str, ...]) -> tuple[tuple[str, ...], bool] | None:
    """Return the command after a runner and whether it is a module, or `None` without a runner."""
    head = _PYTHON.sub("python", _bare(words[0]).lower())
    runner = _RUNNERS.get(head)
    if runner is None:
        return None
    has_verb = not runner.verbs
    rest = iter(range(1, len(words)))
    for index in rest:
        word = words[index]
        if word in runner.module and words[index + 1 :]:
            return words[index + 1 :], True
        if word in runner.module:
            return None
        if word in runner.valued:
            next(rest, None)
        elif word.lower() in runner.verbs:
            has_verb = True
        # The command starts here: not a flag, and not an assignment for `env`.
        elif not word.startswith("-") and not (head == "env" and "=" in word):
            return (words[index:], False) if has_verb else None
    return None


def _bare(word: str) -> str:
    last = re.split(r"[\\/]", word.rstrip("\\/"))[-1]
    return _EXTENSION.sub("", _VERSION.sub("", last))
