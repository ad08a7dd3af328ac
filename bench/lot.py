"""Split the servers of bench/servers.toml by lot: two thirds to work with, one third set aside.

The seed is the SHA-256 digest of the list, so the split cannot be chosen: a server that is added,
removed or updated gives another one. Servers are ranked by the digest of seed and server.

Usage: `python bench/lot.py [work|aside]`
"""

import sys
import tomllib
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

SERVERS: Final = Path(__file__).with_name("servers.toml")
PARTS: Final = ("work", "aside")


def load_servers() -> list[dict[str, Any]]:
    """Return the servers of the list."""
    return tomllib.loads(SERVERS.read_text("utf-8"))["server"]


def spec_of(server: dict[str, Any]) -> str:
    """Return a server's line in the canonical list: registry, name and version."""
    return f"{server['registry']} {server['name']} {server['version']}"


def digest_of(servers: Sequence[dict[str, Any]]) -> str:
    """Return the SHA-256 digest of the canonical list: sorted lines, each with a line end."""
    lines = sorted(spec_of(server) for server in servers)
    return sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def split(servers: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return the two parts of a list; `aside` has a third of it, rounded down."""
    seed = digest_of(servers)
    ranked = sorted(
        servers, key=lambda server: sha256(f"{seed} {spec_of(server)}".encode()).hexdigest()
    )
    count = len(servers) // 3
    parts = {"aside": ranked[:count], "work": ranked[count:]}
    return {part: sorted(parts[part], key=spec_of) for part in PARTS}


def main() -> None:
    """Print the digest, and the servers of both parts or of one."""
    servers = load_servers()
    print(f"digest {digest_of(servers)}")
    for part, chosen in split(servers).items():
        if part in (sys.argv[1:] or PARTS):
            print(f"\n{part}: {len(chosen)} of {len(servers)}")
            print("\n".join(f"  {spec_of(server)}" for server in chosen))


if __name__ == "__main__":
    main()
