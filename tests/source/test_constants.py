"""The constants that a program compares its values with."""

import pytest

from sayso.source import compared_constants, fold


@pytest.mark.parametrize(
    ("text", "name", "values"),
    [
        ("if mode == 'commit': pass", "mode", ("commit",)),
        ("if 'commit' != mode: pass", "mode", ("commit",)),
        ("if mode in ('a', 'b'): pass", "mode", ("a", "b")),
        ("if mode.strip().lower() == 'purge': pass", "mode", ("purge",)),
        ("if str(args['mode']) == 'purge': pass", "mode", ("purge",)),
        ("if args.get('mode', '') == 'purge': pass", "mode", ("purge",)),
        ("if self.mode == 'purge': pass", "mode", ("purge",)),
        ("match mode:\n  case 'a' | 'b': pass\n  case _: pass", "mode", ("a", "b")),
        ("if mode.startswith('x-'): pass", "mode", ("x-",)),
        ("PURGE = 'purge'\ndef f(mode): return mode == PURGE", "mode", ("purge",)),
        ("{'keep': 1, **more, 'drop': 2}[mode]", "mode", ("keep", "drop")),
        ("if count > 41: pass", "count", (41,)),
        ("if dry_run == 'no': pass", "dryRun", ("no",)),
    ],
)
def test_python(text: str, name: str, values: tuple[str | int, ...]) -> None:
    assert compared_constants([("a.py", text)])[fold(name)] == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("if (mode === 'commit') {}", ("commit",)),
        ('if (args.mode !== "commit") {}', ("commit",)),
        ("if (args?.mode.toLowerCase() == `commit`) {}", ("commit",)),
        ("switch (args.mode) { case 'a': x(); case \"b\": y() }", ("a", "b")),
        ("switch (mode) { case 'a': x() } switch (mode) { case 'b': y() }", ("a", "b")),
        ("if (mode.startsWith('x-')) {}", ("x-",)),
    ],
)
def test_javascript(text: str, values: tuple[str, ...]) -> None:
    assert compared_constants([("a.mjs", text)]) == {"mode": values}


@pytest.mark.parametrize("text", ["if mode ==", "\0", "(" * 5000, "if mode == True: pass"])
def test_what_is_no_program_or_no_constant_gives_none(text: str) -> None:
    assert compared_constants([("a.py", text)]) == {}


def test_so_many_constants_count_and_no_more() -> None:
    text = "\n".join(f"mode == 'm{number}'" for number in range(100))
    assert len(compared_constants([("a.py", text), ("b.py", text)])["mode"]) == 12
    assert compared_constants([("a.py", f"mode == '{'x' * 81}'")]) == {}
