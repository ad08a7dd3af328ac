"""Overlays for the server's package: it can write there, and the original stays as it is.

The mounts live in the box's own mount namespace and end with its last process.
"""

import os
import shlex
from pathlib import Path

from sayso.sandbox.programs import Programs


def namespace_words(programs: Programs) -> tuple[str, ...]:
    """Return the prefix of a command that mounts: as root, or as root of a user namespace."""
    words = [programs.unshare, "--mount", "--propagation", "private", "--"]
    if os.geteuid() != 0:
        words[1:1] = ("--user", "--map-root-user")
    return tuple(words)


def mount_lines(below: Path, layer: Path) -> tuple[str, ...]:
    """Return shell commands that mount a folder under an overlay, at `layer / "seen"`.

    Writes go to `layer / "upper"`. The folder is first bound to `layer / "below"`, since an
    overlay's options cannot contain every path.
    """
    for name in ("below", "upper", "work", "seen"):
        (layer / name).mkdir(parents=True)
    options = f"lowerdir={layer / 'below'},upperdir={layer / 'upper'},workdir={layer / 'work'}"
    # Without root, the overlay can mark deleted files only with user attributes.
    if os.geteuid() != 0:
        options += ",userxattr"
    return (
        f"mount --rbind {shlex.quote(str(below))} {layer / 'below'}",
        f"mount -t overlay overlay -o {options} {layer / 'seen'}",
    )
