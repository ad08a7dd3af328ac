"""The server's package under an overlay: it can write there, and what lies below stays as it is.

The mounts are made in a mount namespace of the box's own, so they are gone with its last process.
"""

import os
import shlex
from pathlib import Path

from sayso.sandbox.programs import Programs


def namespace_words(programs: Programs) -> tuple[str, ...]:
    """What goes before a command that mounts: as root, or as root of a user namespace."""
    words = [programs.unshare, "--mount", "--propagation", "private", "--"]
    if os.geteuid() != 0:
        words[1:1] = ("--user", "--map-root-user")
    return tuple(words)


def mount_lines(below: Path, layer: Path) -> tuple[str, ...]:
    """The shell commands that put a folder under an overlay, seen at `layer / "seen"`.

    What is written lies in `layer / "upper"`. The folder is bound first, since the options of an
    overlay cannot hold each path.
    """
    for name in ("below", "upper", "work", "seen"):
        (layer / name).mkdir(parents=True)
    options = ",".join(f"{key}dir={layer / name}" for key, name in _DIRECTORIES.items())
    # Without root, what is covered can be marked only by attributes of the user's own kind.
    if os.geteuid() != 0:
        options += ",userxattr"
    return (
        f"mount --rbind {shlex.quote(str(below))} {layer / 'below'}",
        f"mount -t overlay overlay -o {options} {layer / 'seen'}",
    )


_DIRECTORIES = {"lower": "below", "upper": "upper", "work": "work"}
