"""Commands that install packages."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

_ANY: Final = frozenset[str]()
_NODE: Final = frozenset(
    (
        *("install", "i", "add", "ci", "update", "up", "upgrade"),
        *("exec", "x", "dlx", "create", "init", "link"),
    )
)
_SYSTEM: Final = frozenset(
    ["install", "update", "upgrade", "dist-upgrade", "full-upgrade", "add", "remove"]
)
_INSTALL: Final = frozenset({"install", "update", "add", "fetch"})
_MANAGERS: Final = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun", "npm-cli.js", "deno"), _NODE),
    **dict.fromkeys(
        ("npx", "bunx", "uvx", "pipx", "npx-cli.js", "ensurepip", "easy_install"), _ANY
    ),
    "pip": frozenset({"install", "download", "wheel"}),
    "uv": frozenset(["add", "sync", "install", "run", "python", "lock", "upgrade"]),
    **dict.fromkeys(("conda", "mamba", "micromamba"), frozenset(["install", "create", "update"])),
    **dict.fromkeys(("poetry", "pdm", "hatch"), frozenset(["add", "install", "update", "sync"])),
    **dict.fromkeys(("apt", "apt-get", "aptitude", "apk", "dnf", "yum", "zypper", "snap"), _SYSTEM),
    **dict.fromkeys(("brew", "gem", "bundle", "composer", "nix-env", "cpan", "cpanm"), _INSTALL),
    "cargo": frozenset(["install", "add", "update", "fetch", "binstall"]),
    "go": frozenset(["get", "install", "download"]),
    "dotnet": frozenset(["add", "restore", "install"]),
}
_INTERPRETERS: Final = re.compile(
    r"(python|pypy)[\d.]*|node|nodejs|env|sudo|sh|bash|dash|ruby|perl"
)
_VERSIONED: Final = re.compile(r"(pip)[\d.]*")


def is_install(command: Sequence[str]) -> bool:
    """Return whether a command makes a package manager fetch something.

    >>> is_install(["/usr/bin/python3", "-m", "pip", "install", "x"])
    True
    """
    words = [word for word in command if word and not word.startswith("-")]
    for index, word in enumerate(words[:4]):
        name = _VERSIONED.sub(r"\1", PurePosixPath(word).name)
        if name in _MANAGERS:
            verbs = _MANAGERS[name]
            rest = words[index + 1 : index + 3]
            # A bare `yarn` installs too, but other bare commands usually print their help.
            return bool(rest) and (not verbs or not verbs.isdisjoint(rest))
        if not _INTERPRETERS.fullmatch(name):
            return False
    return False
