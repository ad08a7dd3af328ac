"""A report as a real run would make it: twelve tools, all kinds of verdicts, hostile texts."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from sayso.intent import HintName, Verdict
from sayso.sandbox.spec import Layer
from sayso.trace.effect import Effect, Kind, Life, Loss, Observer
from sayso.verify.call import Case, MadeCall, Outcome
from sayso.verify.event import Called, Ended, Event, Judged, Phase, Started
from sayso.verify.verdict import HintVerdict, Reach, Report, ToolReport

NASTY = 'evil\x1b[31m\u202e\r\n::error::x\x7f <b a="\'" onclick=alert(1)>]]>&amp;\ufffe\x00 \ud800'
SCRIPT = "</style></details><script>document.title='owned'</script><img src=x onerror=alert(1)>"

LAYERS = (
    Layer("root", is_active=True, detail="bubblewrap 0.8, a minimal root"),
    Layer("users", is_active=True, detail="uid 1000 inside"),
    Layer("processes", is_active=True, detail="own namespace"),
    Layer("network", is_active=True, detail="own namespace, loopback only"),
    Layer("private", is_active=True, detail="HOME, XDG and TMPDIR"),
    Layer("limits", is_active=True, detail="30 s per call, 1 GiB, 256 processes"),
    Layer("overlay", is_active=False, detail="needs root; the package is read-only"),
    Layer("syscalls", is_active=True, detail="strace 6.1 with seccomp-bpf"),
    Layer("files", is_active=True, detail="stat first, hash what changed"),
    Layer("sqlite", is_active=True, detail="rows, both ways"),
    Layer("postgres", is_active=False, detail="no PostgreSQL was asked for"),
    Layer("output", is_active=True, detail="normalised differences"),
)
SEEN = ("files", "sqlite", "syscalls")
HINTS: tuple[HintName, ...] = ("read_only", "destructive", "idempotent", "open_world")


def found(verdict: Verdict, reason: str, *, declared: bool | None, **more: Any) -> HintVerdict:
    given: dict[str, Any] = {"calls": 14, "inputs": ("id=exact", "limit=minimum"), **more}
    return HintVerdict(declared=declared, verdict=verdict, reason=reason, observers=SEEN, **given)


def held(*, declared: bool | None = True, **more: Any) -> HintVerdict:
    told = "14 calls succeeded and none did otherwise"
    return found("supported", told, declared=declared, **more)


def unseen(reason: str, *, declared: bool | None, **more: Any) -> HintVerdict:
    return found("not_exercised", reason, declared=declared, **{"calls": 0, "inputs": (), **more})


STRICT = "it is declared the strict way, so there is nothing to refute"
IDLE = "it has no meaning for a tool that is read-only"


def reading(**other: HintVerdict) -> dict[HintName, HintVerdict]:
    """The verdicts on an honest tool that reads."""
    hints: dict[HintName, HintVerdict] = {
        "read_only": held(),
        "destructive": held(declared=False),
        "idempotent": held(),
        "open_world": held(declared=False),
    }
    return {name: other.get(name, hints[name]) for name in HINTS}


def tool(
    name: str, hints: Mapping[HintName, HintVerdict], reach: Reach | None = None, **more: Any
) -> ToolReport:
    default = Reach(16, 14, frozenset({"id=exact", "limit=minimum"}))
    return ToolReport(name, "9f" * 32, hints, reach or default, **more)


ROW = Effect(
    Kind.UPDATE,
    "/world/shop.db#customers/17",
    Observer.SQLITE,
    call=14,
    detail="last_seen: 2024-05-01 -> 2026-11-22",
    life=Life.USER,
    reason="a row of the seeded world, outlives the call",
    loss=Loss.OVERWROTE,
)
LOST = Effect(
    Kind.WRITE,
    "/world/notes/minutes of the meeting of the board with a rather long name.txt",
    Observer.FILES,
    call=31,
    detail="4,096 bytes became 12",
    life=Life.USER,
    reason="a file of the seeded world, named by the argument path",
    loss=Loss.LOST,
    recoverable="git checkout, it was committed",
)
ASKED = Effect(
    Kind.LOOKUP,
    "telemetry.example.com:443",
    Observer.SYSCALLS,
    call=40,
    is_failed=True,
    life=Life.EXTERNAL,
    reason="a name outside of the allowed addresses",
)
BYTECODE = Effect(
    Kind.CREATE,
    "/app/__pycache__/pdf.cpython-311.pyc",
    Observer.FILES,
    call=2,
    life=Life.RUNTIME,
    reason="bytecode of Python",
)
LOG = Effect(
    Kind.APPEND, "/home/.cache/shop/run.log", Observer.FILES, 3, life=Life.OWN, reason="XDG cache"
)


def liars() -> tuple[ToolReport, ...]:
    """Three that declare what is not true."""
    shown = MadeCall(14, "customer_get", Case({"id": 17}), Outcome.SUCCESS, seconds=0.02)
    touched = found(
        "refuted",
        declared=True,
        reason="a row of the customer was changed; a second run on fresh state showed it again",
        evidence=(ROW,),
        arguments={"id": 17},
    )
    wiped = found(
        "refuted",
        declared=False,
        reason="the file's content is lost with append set to false",
        evidence=(LOST,),
        arguments={"path": "/world/notes/minutes.txt", "text": "hello world\n", "append": False},
    )
    told = found(
        "refuted",
        declared=False,
        reason="it looked up a name",
        evidence=(ASKED, replace(ASKED, call=41)),
    )
    return (
        tool("customer_get", reading(read_only=touched), made=(shown,), ignored=(LOG, BYTECODE)),
        tool("note_write", reading(read_only=unseen(STRICT, declared=False), destructive=wiped)),
        tool("report_render", reading(open_world=told), ignored=(BYTECODE,) * 3),
    )


def strangers() -> tuple[ToolReport, ...]:
    """Two of a server that wants to be seen as something else."""
    effect = replace(ROW, target=NASTY, detail=SCRIPT, reason=NASTY, recoverable=NASTY)
    hostile = found(
        "refuted",
        declared=None,
        reason=NASTY,
        evidence=(effect,) * 30,
        arguments={NASTY: [SCRIPT, 7 * "long ", "x" * 5000]},
        inferred=True,
        inputs=(NASTY, SCRIPT),
    )
    reach = Reach(9, 3, frozenset({NASTY}), {SCRIPT: NASTY, NASTY: SCRIPT})
    every: dict[HintName, HintVerdict] = dict.fromkeys(HINTS, replace(hostile, evidence=(effect,)))
    every["open_world"] = hostile
    long = "a_tool_with_a_very_long_name_that_goes_on_and_on_and_does_not_end_for_a_while"
    return (
        tool(NASTY, every, reach, ignored=(replace(effect, life=Life.OWN),)),
        tool(SCRIPT, {"read_only": unseen(SCRIPT, declared=None)}, Reach(2, 0), error=NASTY),
        tool(long, reading(open_world=held(declared=False, is_partial=True))),
    )


def others() -> tuple[ToolReport, ...]:
    """Those that are honest, shy, or could not be reached."""
    over = unseen("no call lost anything", declared=True, is_over_declared=True, calls=14)
    half = held(declared=False, is_partial=True)
    missed = {
        "format=pdf": "the renderer is not installed",
        "since=range": "no value was found that the tool accepts",
    }
    down = "SMTP_HOST is not set"
    why = "no call succeeded"
    lost: dict[HintName, HintVerdict] = {
        "read_only": unseen(STRICT, declared=False),
        "destructive": unseen(STRICT, declared=True),
        "idempotent": unseen(STRICT, declared=False),
        "open_world": unseen(why, declared=False),
    }
    return (
        tool("customer_list", reading(), ignored=(BYTECODE, LOG)),
        tool(
            "customer_delete", reading(read_only=unseen(STRICT, declared=False), destructive=over)
        ),
        tool("invoice_export", reading(), Reach(20, 12, frozenset({"format=csv"}), missed)),
        tool("repository_status", reading(open_world=half)),
        tool("mail_send", lost, Reach(8, 0, frozenset(), {"to=address": down}), error=down),
        tool("数え上げ", reading(idempotent=held(is_partial=True))),
    )


def report() -> Report:
    """The whole of it."""
    return Report(
        "python server.py",
        {"name": "shop", "version": "1.4.0"},
        LAYERS,
        (*liars(), *others(), *strangers()),
        seed=7,
        seconds=83.4,
        notes=("The world held no PDF, so no tool was given one.",),
    )


def hostile() -> Report:
    """The same of a server whose every word is hostile."""
    layers = (Layer(NASTY, is_active=False, detail=SCRIPT), *LAYERS)
    server = {"name": NASTY, "version": SCRIPT, SCRIPT: NASTY}
    return replace(report(), target=SCRIPT, server=server, layers=layers, notes=(NASTY, SCRIPT))


def honest() -> Report:
    """A run that found nothing wrong."""
    return replace(report(), tools=(tool("list", reading()), tool("get", reading())), notes=())


def large(count: int = 1000) -> Report:
    """As many tools as nobody has."""
    tools = [*liars(), *others()]
    named = (replace(tools[at % len(tools)], name=f"tool_{at}") for at in range(count))
    return replace(report(), tools=tuple(named))


def events(whole: Report) -> Iterator[Event]:
    """The run that ends in a report."""
    yield Phase("prepare", "npx shop")
    yield Started(whole.layers, tuple(one.name for one in whole.tools))
    yield Phase("explore")
    planned = 4 * len(whole.tools)
    for at, one in enumerate(whole.tools):
        for step in range(4):
            made = MadeCall(4 * at + step + 1, one.name, Case({}), Outcome.SUCCESS)
            yield Called(made, made.number, planned)
    for one in whole.tools[:-1]:
        yield Judged(one, planned, planned)
    yield Phase("end")
    yield Ended(whole)
