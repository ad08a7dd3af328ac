"""`python -m avow` is `avow`."""

import sys

from avow.cli import main

if __name__ == "__main__":
    sys.exit(main())
