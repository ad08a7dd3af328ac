from pathlib import Path

import pytest
from tests.verify.observe.tracing import needs_tools, run, told

pytestmark = needs_tools

CASES: list[tuple[str, str, list[tuple[str, str]]]] = [
    ("a read", "open('/world/old').read(); os.listdir('/world'); os.stat('/world')", []),
    (
        "a plain write",
        "open('/world/new', 'w').write('x')",
        [("write", "/world/new")],
    ),
    ("an appended line", "open('/world/old', 'a').write('x')", [("append", "/world/old")]),
    ("a file that was open before", "os.write(early, b'x')", [("write", "/world/early")]),
    (
        "a rename over, from a temporary name",
        "open('t', 'w').write('x'); os.rename('t', 'old')",
        [
            ("write", "/world/t"),
            ("rename", "/world/t"),
            ("rename", "/world/old"),
        ],
    ),
    ("an unlink", "os.unlink('old')", [("delete", "/world/old")]),
    ("an unlink of what is not there", "\ntry: os.unlink('x')\nexcept OSError: pass", []),
    ("a folder that is there", "os.makedirs('/world', exist_ok=True)", []),
    (
        "a folder made and taken away",
        "os.mkdir('d'); os.rmdir('d')",
        [("create", "/world/d"), ("delete", "/world/d")],
    ),
    ("a mode", "os.chmod('old', 0o600)", [("metadata", "/world/old")]),
    ("times through a descriptor", "os.utime(early, (1, 1))", [("metadata", "/world/early")]),
    ("an attribute", "os.setxattr('old', 'user.a', b'x')", [("metadata", "/world/old")]),
    ("a cut", "os.truncate('old', 0)", [("write", "/world/old")]),
    ("a second name", "os.link('old', 'two')", [("create", "/world/two")]),
    ("a symlink", "os.symlink('old', 'two')", [("create", "/world/two")]),
    (
        "a mapping that is written",
        "m = mmap.mmap(early, 0); m[0:1] = b'X'",
        [("write", "/world/early")],
    ),
    ("a mapping that is only read", "mmap.mmap(early, 0, prot=mmap.PROT_READ)[0]", []),
    (
        "a copy inside the kernel",
        "os.copy_file_range(os.open('old', os.O_RDONLY), early, 2)",
        [("write", "/world/early")],
    ),
    (
        "a write where it must not",
        "\ntry: open('/usr/x', 'w')\nexcept OSError: pass",
        [("write!", "/usr/x")],
    ),
    ("opening a file that is there with O_CREAT", "os.open('old', os.O_RDWR | os.O_CREAT)", []),
    (
        "opening a file that is not there with O_CREAT",
        "os.open('new', os.O_RDWR | os.O_CREAT)",
        [("create", "/world/new")],
    ),
    ("bytes that are no UTF-8", "os.mkdir(b'\\xff')", [("create", "/world/\udcff")]),
    (
        "signs that the trace escapes",
        "open('a, b)<c>\"é\\n', 'w').close()",
        [("write", '/world/a, b)<c>"é\n')],
    ),
    (
        "shared memory",
        "os.write(os.memfd_create('x'), b'x'); open('/dev/null', 'w').write('x')",
        [],
    ),
    ("a change of folder", "os.chdir('/tmp'); os.mkdir('in')", [("create", "/tmp/in")]),
    (
        "a connection that fails",
        "socket.socket().connect_ex(('192.0.2.1', 80))",
        [("connect!", "192.0.2.1:80")],
    ),
    (
        "a connection over IPv6",
        "socket.socket(socket.AF_INET6).connect_ex(('2001:db8::1', 80))",
        [("connect!", "[2001:db8::1]:80")],
    ),
    (
        "a datagram",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 99))",
        [("send", "127.0.0.1:99")],
    ),
    (
        "a datagram that has no way",
        "socket.socket(type=socket.SOCK_DGRAM).connect_ex(('192.0.2.1', 99))",
        [("connect!", "192.0.2.1:99")],
    ),
    (
        "a look-up of a name",
        "\ntry: socket.getaddrinfo('secret.example', 80)\nexcept OSError: pass",
        [("lookup", "secret.example")],
    ),
    (
        "a Unix socket outside",
        "socket.socket(socket.AF_UNIX).connect_ex('/run/x.sock')",
        [("connect!", "unix:/run/x.sock")],
    ),
    ("a Unix socket of its own", "socket.socket(socket.AF_UNIX).connect_ex('/tmp/x.sock')", []),
    (
        "an abstract one of nobody",
        "socket.socket(socket.AF_UNIX).connect_ex('\\0x')",
        [("connect!", "unix:@x")],
    ),
    (
        "a port",
        "s = socket.create_server(('127.0.0.1', 4567)); socket.create_connection(s.getsockname())",
        [("listen", "127.0.0.1:4567")],
    ),
    ("another program", "subprocess.run(['true', 'a b'])", [("execute", "true 'a b'")]),
    (
        "an install",
        "\ntry: subprocess.run(['npx', '-y', 'x'], env={'PATH': '/nowhere'})\nexcept OSError: pass",
        [("install!", "npx -y x")],
    ),
    (
        "a signal to its own child",
        # Who has answered has begun: one that is killed in mid-start is not told.
        (
            "p = subprocess.Popen(['cat'], stdin=-1, stdout=-1, bufsize=0); "
            "p.stdin.write(b'x'); p.stdout.read(1); p.kill(); p.wait()"
        ),
        [("execute", "cat")],
    ),
    (
        "a descriptor given away",
        "a, b = socket.socketpair(); socket.send_fds(a, [b'x'], [early])",
        [],
    ),
    ("a file without a name", "os.write(os.open('/tmp', os.O_TMPFILE | os.O_RDWR), b'x')", []),
]


@pytest.mark.parametrize(("body", "expected"), [pytest.param(*one[1:], id=one[0]) for one in CASES])
async def test_a_call_of_a_real_program_is_told_as_its_effects(
    tmp_path: Path, body: str, expected: list[tuple[str, str]]
) -> None:
    world = tmp_path / "world"
    world.mkdir()
    for file in ("old", "early"):
        (world / file).write_text("before")
    with run(tmp_path, body, "early = os.open('/world/early', os.O_RDWR)") as server:
        assert await server.watcher.wait_idle(quiet=0.03, most=20)
        await server.watcher.end(0)
        assert list(dict.fromkeys(told(await server.call()))) == expected


async def test_starting_up_is_told_with_the_number_0_and_without_the_box(tmp_path: Path) -> None:
    with run(tmp_path, "pass", "open('/world/boot.log', 'w').write('up')") as server:
        assert await server.watcher.wait_idle(quiet=0.03, most=20)
        effects = list(await server.watcher.end(0))
    assert told(effects) == [("write", "/world/boot.log")]
    assert {one.call for one in effects} == {0}


async def test_a_mapping_from_the_start_is_seen_when_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "world").mkdir()
    (tmp_path / "world/db").write_text("before")
    start = "m = mmap.mmap(os.open('/world/db', os.O_RDWR), 0)"
    with run(tmp_path, "if line: m[0:1] = b'X'", start) as server:
        assert await server.watcher.wait_idle(quiet=0.03, most=20)
        await server.watcher.end(0)
        assert not await server.call("")
        assert told(await server.call("now")) == [("write", "/world/db")]


async def test_a_late_thread_is_waited_for_and_known(tmp_path: Path) -> None:
    body = """
    def late():
        time.sleep(0.2)
        open('/world/late', 'w').write('x')
    threading.Thread(target=late).start()
    """
    with run(tmp_path, body) as server:
        await server.watcher.end(0)
        effects = await server.call(quiet=0.5)
    assert told(effects) == [("write", "/world/late")]


async def test_a_daemon_outlives_its_call_and_what_it_does_next_comes_with_the_next(
    tmp_path: Path,
) -> None:
    body = """
    if line == 'start':
        if os.fork() == 0:
            os.setsid()
            os.mkdir('/tmp/alive')
            while not os.path.exists('/tmp/go'):
                time.sleep(0.02)
            open('/world/daemon', 'w').write('x')
            os._exit(0)
    elif line == 'go':
        os.mkdir('/tmp/go')
    """
    with run(tmp_path, body) as server:
        await server.watcher.end(0)
        assert told(await server.call("start", quiet=0.2)) == [("create", "/tmp/alive")]
        effects = await server.call("go", quiet=0.2)
    assert told(effects) == [("create", "/tmp/go"), ("write", "/world/daemon")]


async def test_what_comes_between_two_calls_is_not_the_next_ones(
    tmp_path: Path,
) -> None:
    with run(tmp_path, "open(line, 'w').write('x')") as server:
        await server.watcher.end(0)
        await server.call("/world/one")
        server.ask("/world/between")
        assert told(await server.call("/world/two")) == [("write", "/world/two")]


async def test_a_program_that_computes_is_not_at_rest(tmp_path: Path) -> None:
    body = "threading.Thread(target=lambda: [1 for _ in iter(int, 1)], daemon=True).start()"
    with run(tmp_path, body) as server:
        assert await server.watcher.wait_idle(quiet=0.03, most=20)
        server.ask()
        assert not await server.watcher.wait_idle(quiet=0.2, most=0.6)


async def test_connections_among_the_traced_are_not_told(tmp_path: Path) -> None:
    body = """
    s = socket.create_connection(peer.getsockname())
    s.sendall(b'GET /a HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')
    """
    start = "peer = socket.create_server(('127.0.0.1', 0))"
    with run(tmp_path, body, start) as server:
        await server.watcher.end(0)
        assert await server.call() == []


async def test_a_thread_pool_does_not_hide_where_relative_names_lead(tmp_path: Path) -> None:
    body = """
    threads = [threading.Thread(target=os.mkdir, args=(f'd{n}',)) for n in range(20)]
    [one.start() for one in threads]
    [one.join() for one in threads]
    subprocess.run(['mkdir', 'of-a-child'], cwd='/tmp')
    """
    with run(tmp_path, body, "os.chdir('/world')") as server:
        await server.watcher.end(0)
        effects = told(await server.call())
    assert set(effects[:20]) == {("create", f"/world/d{n}") for n in range(20)}
    assert effects[20:] == [("execute", "mkdir of-a-child"), ("create", "/tmp/of-a-child")]
