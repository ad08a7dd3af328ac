"""`sayso gateway` on a store that others use too."""

import base64
import sys

from tests.cli.running import sayso_process, started
from tests.cli.test_drain import JOURNAL
from tests.postgres import PostgresServer


def key(letter: bytes) -> str:
    return base64.b64encode(letter * 32).decode()


def test_who_comes_with_other_keys_leaves_the_log_as_it_was(
    postgres: PostgresServer, tmp_path: object
) -> None:
    url = postgres.fresh()
    server = ("--", sys.executable, JOURNAL, f"{tmp_path}/journal")
    words = ("gateway", "--port", "0", "--json", "--store", url)
    with started(*words, *server, SAYSO_KEYS=key(b"k")) as run:
        refused = sayso_process(*words, *server, SAYSO_KEYS=key(b"o"))
        run.end()

    assert refused.code == 2
    assert refused.error["code"] == "keys"
    verified = sayso_process("audit", "verify", "--store", url, SAYSO_KEYS=key(b"k"))
    assert (verified.code, verified.out.split(":")[0]) == (0, "sound"), verified.out
