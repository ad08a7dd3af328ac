import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.trace import escapes
from sayso.trace.address import Address, read_address, read_pair
from sayso.trace.arguments import Call, read_call, split
from sayso.trace.calls import BLINDING, TRACED
from sayso.trace.descriptor import Descriptor, read_descriptor
from sayso.trace.effect import Effect
from sayso.trace.files import MADE_OR_EMPTIED
from sayso.trace.handlers import effects_of, learn
from sayso.trace.installs import is_install
from sayso.trace.lines import CallReader, LineKind, read_line
from sayso.trace.memory import Memory
from sayso.trace.network import read_query
from sayso.trace.tail import Tail
from sayso.trace.window import Window
from sayso.verify.observe.syscalls import SyscallWatcher

SAMPLES = Path(__file__).parent / "samples"
SAMPLE = SAMPLES / "python.trace"


def effects(*lines: str) -> list[Effect]:
    """The effects of lines without their head, as thread 7 would have them."""
    stitcher, memory = CallReader(), Memory()
    found: list[Effect] = []
    for line in lines:
        taken = stitcher.take(line if line[0].isdigit() else f"7     1700000000.000001 {line}")
        if isinstance(taken, Call):
            found += effects_of(taken, memory)
            learn(taken, memory)
    return found


def told(*lines: str) -> list[tuple[str, str]]:
    return [(f"{one.kind}{'!' if one.is_failed else ''}", one.target) for one in effects(*lines)]


TCP = "3<TCP:[11]>"
PORT_80 = '{sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("192.0.2.1")}, 16'
QUERY = r"\367\340\1\0\0\1\0\0\0\0\0\0\7example\3com\0\0\34\0\1"

BLOCKS = (SAMPLES / "lines.txt").read_text(encoding="utf-8").strip().split("\n\n")


@pytest.mark.parametrize("block", BLOCKS)
def test_lines_mean_their_effects(block: str) -> None:
    lines, _, expected = block.partition("\n=> ")
    found = [f"{kind} {target}" for kind, target in told(*lines.splitlines())]
    assert (found or ["nothing"]) == expected.split("\n=> ")


@pytest.mark.parametrize("name", BLINDING)
def test_whatever_blinds_the_trace_is_told(name: str) -> None:
    assert told(f"{name}(1) = 0") == [("blind", name)]


def test_a_request_is_told_with_its_method_and_what_follows_belongs_to_it() -> None:
    start = f"connect({TCP}, {PORT_80}) = 0"
    get = rf'sendto({TCP}, "GET /a HTTP/1.1\r\n", 17, 0, NULL, 0) = 17'
    rest = rf'writev({TCP}, [{{iov_base="Host: x\r\n\r\n", iov_len=9}}], 1) = 9'
    post = rf'sendmsg({TCP}, {{msg_iov=[{{iov_base="POST / HTTP/1.1\r\n", iov_len=9}}]}}, 0) = 9'
    sent = [one.detail for one in effects(start, get, rest, post)[1:]]
    assert sent == ["GET /a HTTP/1.1", "GET /a HTTP/1.1", "POST / HTTP/1.1"]


def test_making_and_emptying_are_not_told_apart() -> None:
    (one,) = effects('openat(AT_FDCWD</w>, "a", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3</w/a>')
    assert one.detail == MADE_OR_EMPTIED


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("npm install left-pad", True),
        ("npm --version", False),
        ("npm run build", False),
        ("npx -y some-server", True),
        ("python3 -m pip install x", True),
        ("python3 -m pip list", False),
        ("/usr/bin/node /usr/lib/npm/bin/npm-cli.js ci", True),
        ("uv pip install x", True),
        ("uv --version", False),
        ("apt-get -y install x", True),
        ("go mod download", True),
        ("go version", False),
        ("cargo add serde", True),
        ("gem install x", True),
        ("git add install", False),
        ("echo npm install", False),
        ("", False),
    ],
)
def test_an_install_is_told_by_its_words(words: str, *, expected: bool) -> None:
    assert is_install(words.split()) is expected


def test_arguments_are_split_where_they_end() -> None:
    text = r'3</a\74b), c>, "x, )\"", {a=[1, 2]}, 1<<2) = 5'
    assert split(text) == ((r"3</a\74b), c>", r'"x, )\""', "{a=[1, 2]}", "1<<2"), " = 5")


def test_a_path_in_a_result_may_look_like_another_result() -> None:
    call = read_call("openat", '"x") = 3</a) = 4 E>', pid=1, time=0)
    assert (call.result, call.returned, call.error) == (3, "</a) = 4 E>", "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3</etc/hosts>", Descriptor("/etc/hosts")),
        ("3</a(deleted)>", Descriptor("/a(deleted)")),
        ("3</a>(deleted)", Descriptor("/a", is_deleted=True)),
        ("AT_FDCWD</w>", Descriptor("/w")),
        (r"3</\303\251\377>", Descriptor("/é\udcff")),
        ("4<TCPv6:[[::1]:1->[::1]:2]>", Descriptor(socket="TCPv6", identity="[::1]:1->[::1]:2")),
        (
            '5<UNIX-STREAM:[1->2,"/run/x"]>',
            Descriptor(socket="UNIX-STREAM", identity='1->2,"/run/x"'),
        ),
        ("6<anon_inode:[eventpoll]>", Descriptor()),
        ("7", Descriptor()),
        ("NULL", Descriptor()),
    ],
)
def test_a_descriptor_is_what_strace_says_it_is(text: str, expected: Descriptor) -> None:
    assert read_descriptor(text) == expected


def test_addresses_of_all_families_are_read() -> None:
    ipv6 = '{sa_family=AF_INET6, sin6_port=htons(1), inet_pton(AF_INET6, "::1", &sin6_addr)}'
    assert str(read_address(ipv6)) == "[::1]:1"
    assert str(read_address(r'{sa_family=AF_UNIX, sun_path=@"a\0b"}')) == "unix:@a\0b"
    assert read_address("{sa_family=AF_UNSPEC}") == Address("AF_UNSPEC")
    assert read_address("NULL") is None
    assert read_pair("[::1]:1->[::2]:3")[1] == Address("AF_INET6", "::2", 3)
    assert read_pair("1234") == (None, None)


def test_the_name_in_a_query_is_read_over_both_protocols() -> None:
    query = escapes.plain(QUERY)
    assert read_query(query) == ("example.com", "AAAA")
    assert read_query(len(query).to_bytes(2) + query) == ("example.com", "AAAA")
    assert read_query(query[:2] + b"\x81\x80" + query[4:]) is None


@given(st.binary())
def test_escapes_are_undone(data: bytes) -> None:
    octal = "".join(f"\\{byte:03o}" for byte in data)
    assert escapes.plain(octal) == data
    assert escapes.plain("".join(f"\\x{byte:02x}" for byte in data)) == data


SIGNS = st.text(st.sampled_from('<>[]{}()",\\/=-+. \n0123' + string.ascii_letters), max_size=80)
PIECES = st.lists(
    st.sampled_from(
        (
            *(name.lstrip("?") + "(" for name in TRACED),
            *('"a"', '"', "3</w>", "AT_FDCWD</w>", ", ", "(", ")", " = 0", " = 3</w>"),
            *(" = -1 EROFS (x)", "<unfinished ...>", "<... openat resumed>", "NULL", "= ?"),
            *("O_CREAT|O_WRONLY", "MAP_SHARED", "PROT_WRITE", "TCP:[1]>", "htons(99999999)"),
            *("{sa_family=AF_INET", "{sa_family=AF_UNIX", "sun_path=@", "iov_base="),
        )
    ),
    max_size=12,
).map("".join)


@given(st.lists(st.one_of(SIGNS, PIECES, st.text(max_size=40)), max_size=5))
def test_no_line_raises(bodies: list[str]) -> None:
    effects(*(f"7 1700000000.1 {body}" for body in bodies))
    effects(*(body for body in bodies if body))


@given(st.data())
def test_a_real_trace_that_is_cut_or_broken_does_not_raise(data: st.DataObject) -> None:
    lines = SAMPLE.read_text(encoding="latin-1").splitlines()
    line = data.draw(st.sampled_from(lines))
    at = data.draw(st.integers(0, len(line)))
    junk = data.draw(st.sampled_from(["", "\x00", '"', "<", "\n", ")"]))
    effects(*(one for one in (line[:at], line[at:], line[:at] + junk + line[at + 1 :]) if one))


async def test_the_kept_trace_of_a_python_program_means_what_the_program_did() -> None:
    watcher = SyscallWatcher(SAMPLE)
    found = [(str(one.kind), one.target, one.is_failed) for one in await watcher.end(0)]
    assert found == [
        ("execute", "/usr/bin/python3 /world/a.py", False),
        ("write", '/tmp/a,b)<x>"qé.txt', False),
        ("write", "/tmp/bad\udcff.txt", False),
        ("rename", "/tmp/bad\udcff.txt", False),
        ("rename", "/tmp/c", False),
        ("delete", "/tmp/c", False),
        ("create", "/tmp/d", False),
        ("delete", "/tmp/d", False),
        ("connect", "10.1.2.3:80", True),
        ("connect", "127.0.0.1:9", True),
        ("listen", "127.0.0.1:0", False),
        ("send", "127.0.0.1:53", False),
        ("send", "127.0.0.1:5000", False),
        ("send", "[::1]:53", False),
        ("connect", "unix:/run/nope", True),
        ("connect", "unix:@abst", True),
        ("lookup", "example.com", False),
        ("create", "/tmp/dd", False),
        ("metadata", "/tmp/dd", False),
        ("delete", "/tmp/dd", False),
        ("execute", "sh -c true", False),
        ("execute", "git --version", False),
    ]


async def test_a_server_that_is_started_again_in_a_new_box_begins_anew(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    kept = SAMPLE.read_text(encoding="latin-1")
    trace.write_text(kept, encoding="latin-1")
    watcher = SyscallWatcher(trace)
    first = list(await watcher.end(0))
    with trace.open("a", encoding="latin-1") as file:
        file.write(kept)
    await watcher.begin()
    # What comes between is asked for with the same number, so it is given.
    assert [one.target for one in await watcher.end(0)] == [one.target for one in first]


async def test_without_a_box_the_first_program_is_the_server(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    lines = ['execve("/bin/x", ["x"], 0x7ff /* 3 vars */) = 0', 'mkdir("/w/a", 0777) = 0']
    trace.write_text("".join(f"7 1700000000.1 {line}\n" for line in lines), encoding="utf-8")
    assert [one.target for one in await SyscallWatcher(trace).end(0)] == ["/w/a"]


def test_forms_of_lines_are_told_apart() -> None:
    forms = {
        "1 1.0 read(3) = 0": LineKind.CALL,
        "1 1.0 read(3 <unfinished ...>": LineKind.UNFINISHED,
        "1 1.0 <... read resumed>) = 0": LineKind.RESUMED,
        "1 1.0 +++ killed by SIGKILL +++": LineKind.EXIT,
        "1 1.0 --- SIGCHLD {si_signo=SIGCHLD} ---": LineKind.SIGNAL,
    }
    assert [line.form for text in forms if (line := read_line(text))] == list(forms.values())
    assert read_line("[ Process PID=1 runs in 32 bit mode. ]") is None


def test_a_tail_gives_whole_lines_as_they_come(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    tail = Tail(path)
    assert list(tail.lines()) == []
    path.write_bytes(b"one\ntw")
    assert list(tail.lines()) == ["one"]
    with path.open("ab") as file:
        file.write(b"o\n" + b"x" * (3 << 20) + b"\nthree\n")
    assert list(tail.lines()) == ["two", "three"]


def test_a_window_tells_each_effect_once_and_is_bounded() -> None:
    window = Window()
    for _ in range(3):
        window.add(effects('write(3</w/a>, "x", 1) = 1'), 1.0)
    window.add((one for n in range(6000) for one in effects(f'mkdir("/w/{n}", 0700) = 0')), 2.0)
    told = [effect for effect, _ in window.timed()]
    assert told[0].detail == "3 times"
    assert (told[-1].kind, told[-1].detail) == ("blind", "1001 more")
