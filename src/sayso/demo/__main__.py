"""`python -m sayso.demo`: the demo server over stdio, without the MCP SDK."""

import sys

from sayso.demo.plain_server import main

if __name__ == "__main__":
    sys.exit(main())
