import socket
import sys
import threading
from collections.abc import Iterator

import pytest
from tests.sandbox.boxes import Run, start

from sayso.errors import UsageError
from sayso.sandbox.box import SandboxSpec, open_box
from sayso.sandbox.forward import check_address
from sayso.sandbox.spec import Layer

ASK = """
import socket, sys
for port in sys.argv[1:]:
    try:
        with socket.create_connection(("127.0.0.1", int(port)), timeout=5) as one:
            one.sendall(b"who"); one.shutdown(socket.SHUT_WR)
            print(one.makefile("rb").read().decode())
    except OSError as error:
        print(type(error).__name__)
"""


@pytest.fixture
def service() -> Iterator[int]:
    """A port of this machine where somebody repeats what is said."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            while True:
                try:
                    one, _ = listening.accept()
                except OSError:
                    return
                with one:
                    one.sendall(one.makefile("rb").read() + b" is there")

        thread = threading.Thread(target=answer)
        thread.start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
    thread.join(60)


@pytest.mark.process
async def test_a_box_reaches_what_is_allowed_and_nothing_else(run: Run, service: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ran = await run(ASK, str(service), str(port), allowed=(f"127.0.0.1:{service}",))

    assert ran.said.splitlines() == ["who is there", "ConnectionRefusedError"]


@pytest.mark.process
async def test_it_does_so_each_time_it_is_started(layers: tuple[Layer, ...], service: int) -> None:
    spec = SandboxSpec((sys.executable, "-c", ASK, str(service)), allowed=(f"localhost:{service}",))
    async with open_box(spec, layers) as box:
        said = [(await start(box)).said.strip() for _ in range(2)]

    assert said == ["who is there"] * 2


@pytest.mark.process
async def test_what_hands_connections_on_is_not_among_what_is_watched(
    run: Run, service: int
) -> None:
    ran = await run(ASK, str(service), allowed=(f"127.0.0.1:{service}",))

    assert ran.trace.count(f"sin_port=htons({service})") == ran.trace.count(" connect(")
    assert "enter.py" not in ran.trace


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("localhost:80", "127.0.0.1:80"),
        ("127.0.0.5:80", "127.0.0.5:80"),
        ("[::1]:80", "[::1]:80"),
    ],
)
def test_an_address_on_loopback_may_be_allowed(given: str, expected: str) -> None:
    assert check_address(given) == expected


@pytest.mark.parametrize("given", ["192.0.2.1:80", "example.com:80", "127.0.0.1", "127.0.0.1:0"])
def test_no_other_address_may_be_allowed(given: str) -> None:
    with pytest.raises(UsageError, match="loopback"):
        check_address(given)
