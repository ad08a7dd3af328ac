"""What a server must not reach from inside of its box."""

import json

import pytest
from tests.sandbox.boxes import Run

from sayso.sandbox.filter import filter_program
from sayso.sandbox.limits import Limits

_OPEN = """
import json, os
found = []
for folder, folders, names in os.walk('/proc'):
    if folder == '/proc':
        folders[:] = [one for one in folders if not one.isdigit() and 'self' not in one]
    for name in names:
        path = f'{folder}/{name}'
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            continue
        found.append(path)
print(json.dumps(found))
"""

_CALLS = """
import ctypes, errno, json
kernel = ctypes.CDLL(None, use_errno=True)
kernel.syscall.restype = ctypes.c_long
room = ctypes.create_string_buffer(200)
calls = {'io_uring_setup': (425, 8, room), 'file_setattr': (469, 0, 0, 0, 0, 0)}
found = {}
for name, words in calls.items():
    kernel.syscall(*words)
    found[name] = errno.errorcode[ctypes.get_errno()]
print(json.dumps(found))
"""

_SOCKETS = """
import json, socket
found = {}
for name in ('AF_UNIX', 'AF_INET', 'AF_INET6', 'AF_NETLINK', 'AF_VSOCK', 'AF_PACKET', 'AF_ALG'):
    try:
        socket.socket(getattr(socket, name), socket.SOCK_DGRAM).close()
        found[name] = True
    except OSError:
        found[name] = False
print(json.dumps(found))
"""

needs_filter = pytest.mark.skipif(not filter_program(), reason="no filter for this machine")


async def test_no_setting_of_the_kernel_can_be_opened_for_writing(run: Run) -> None:
    ran = await run(_OPEN)

    assert json.loads(ran.said) == []


async def test_the_boxs_first_process_tells_nothing_of_saysos_variables(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://me:hunter2@proxy.invalid")
    ran = await run("print(open('/proc/1/environ').read())")

    assert "PATH=" in ran.said
    assert "hunter2" not in ran.said
    assert "HOME=" not in ran.said


async def test_nothing_can_be_left_beside_the_devices(run: Run) -> None:
    ran = await run(
        "open('/dev/null', 'w').write('x'); open('/dev/shm/a', 'w'); open('/dev/a', 'w')"
    )

    assert "Read-only file system: '/dev/a'" in ran.complaint


@needs_filter
async def test_calls_that_no_tracer_sees_are_not_there(run: Run) -> None:
    ran = await run(_CALLS)

    assert set(json.loads(ran.said).values()) == {"ENOSYS"}


@needs_filter
async def test_only_sockets_that_a_namespace_holds_can_be_made(run: Run) -> None:
    ran = await run(_SOCKETS)

    found = json.loads(ran.said)
    assert {name for name, is_made in found.items() if is_made} == {
        *("AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK")
    }


@needs_filter
async def test_the_keys_of_whoever_runs_sayso_cannot_be_asked_for(run: Run) -> None:
    numbers = "{'x86_64': 250, 'aarch64': 219}[os.uname().machine]"
    code = f"import ctypes, os; print(ctypes.CDLL(None).syscall({numbers}, 0, -3, 0))"
    ran = await run(code)

    assert ran.said.strip() == "-1"


async def test_files_can_be_copied_though_no_clone_is_made(run: Run) -> None:
    code = (
        "import subprocess; open('/tmp/a', 'w').write('x');"
        "subprocess.run(['cp', '--reflink=auto', '/tmp/a', '/tmp/b'], check=True);"
        "print(open('/tmp/b').read())"
    )
    ran = await run(code)

    assert ran.said.strip() == "x"


async def test_a_box_that_takes_too_much_is_ended_and_it_is_said_why(run: Run) -> None:
    code = "import time; held = b'x' * (300 << 20); print(len(held), flush=True); time.sleep(20)"
    ran = await run(code, limits=Limits(memory_in_all=100 << 20))

    assert ran.code != 0
    assert ran.box.overruns[0] == "the server was ended: more than 100 MiB of memory in all"
