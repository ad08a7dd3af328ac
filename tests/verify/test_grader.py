"""What is learned from all calls of a run, and what it makes of single effects."""

from pathlib import Path

import pytest

from sayso.sandbox.mount import Place, Role
from sayso.trace.effect import Blob, Effect, Kind, Life, Observer
from sayso.verify.call import Case, MadeCall, Outcome
from sayso.verify.grade.context import CallContext
from sayso.verify.grade.lifetime import grade
from sayso.verify.grader import Grader

READERS = ("list_files", "read_file", "find_file", "count_files")


def stats(where: str = "/home/me/.tool/stats.json") -> Effect:
    return Effect(Kind.WRITE, where, Observer.FILES, detail="1202 → 1202 bytes")


def graded(grader: Grader, place: Place, call: MadeCall) -> tuple[Effect, ...]:
    """Return the effects of a call, graded where this is the only place."""
    server = CallContext((place,), "")
    return grader.grade(server, call.raw, call.tool, call.case.arguments, control=call.control)


def _is_shown(_effect: Effect, _context: CallContext) -> bool:
    return True


def made(tool: str, *effects: Effect) -> MadeCall:
    return MadeCall(1, tool, Case({}), Outcome.SUCCESS, text="stats: 1202", raw=effects)


@pytest.mark.parametrize(("count", "life"), [(2, Life.USER), (3, Life.OWN), (4, Life.OWN)])
def test_what_most_reading_tools_write_is_the_servers_own_also_where_one_shows_it(
    count: int, life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.verify.grade.lifetime.is_shown", _is_shown)
    place = Place("/home/me", Path("/nowhere"), Role.HOME)
    grader = Grader(readers=frozenset(READERS))
    calls = [made(one, *([stats()] if at < count else [])) for at, one in enumerate(READERS)]
    grader.learn([*calls, made("write_file", stats())])
    (effect,) = graded(grader, place, calls[0])
    assert effect.life is life


def test_what_a_person_keeps_is_never_a_habit() -> None:
    place = Place("/kept", Path("/nowhere"), Role.FIXTURE)
    grader = Grader(readers=frozenset(READERS))
    calls = [made(one, stats("/kept/a.json")) for one in READERS]
    grader.learn(calls)
    assert [graded(grader, place, one)[0].life for one in calls] == [Life.USER] * len(calls)


def test_a_line_of_gits_record_of_its_moves_is_told_by_what_moved(tmp_path: Path) -> None:
    place = Place("/kept", tmp_path, Role.FIXTURE)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    line = Effect(Kind.APPEND, "/kept/.git/logs/HEAD", Observer.FILES, detail="143 bytes")
    assert grade(line, CallContext((place,), "git_reset")).life is Life.RUNTIME
    moved = Effect(Kind.WRITE, "/kept/.git/refs/heads/main", Observer.FILES)
    assert grade(moved, CallContext((place,), "git_reset")).life is Life.USER


def test_git_may_write_its_index_again_with_the_same_bytes(tmp_path: Path) -> None:
    place = Place("/kept", tmp_path, Role.FIXTURE)
    same, other = Blob("a" * 64, 145), Blob("b" * 64, 145)

    def life(path: str, after: Blob) -> Life | None:
        effect = Effect(Kind.WRITE, path, Observer.FILES, before=same, after=after)
        return grade(effect, CallContext((place,), "git_status")).life

    assert life("/kept/.git/index", same) is Life.CACHE
    assert life("/kept/.git/refs/heads/main", other) is Life.USER
    assert life("/kept/notes.txt", same) is Life.USER
