from pathlib import Path

import pytest

from sayso.errors import ConfigError, MistakesError
from sayso.verify.inputs.hints import load_hints, read_hints

ALL = """
[verify]
allow = ["127.0.0.1:5432", "[::1]:80"]
own = ["~/.cache/server"]
order = ["login"]

[verify.tools.delete_note]
arguments = [{ id = 1, deep = { tags = ["a"] } }, {}]

[verify.tools.pay]
skip = "it costs money"
"""


def test_all_that_can_be_said_is_read() -> None:
    hints = load_hints(ALL)

    assert hints.allow == ("127.0.0.1:5432", "[::1]:80")
    assert (hints.own, hints.order) == (("~/.cache/server",), ("login",))
    assert hints.of("delete_note").arguments == ({"id": 1, "deep": {"tags": ["a"]}}, {})
    assert hints.of("pay").skip == "it costs money"
    assert hints.of("another").arguments == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[verify]\nalow = []", "sayso.toml:2: unknown key “alow”. Did you mean “allow”?"),
        ('[verify]\nallow = ["host"]', "sayso.toml:2: “host” is not host:port"),
        ('[verify]\nallow = ["h:99999"]', "sayso.toml:2: “h:99999”: the port is above 65535"),
        ("[verify.tools.a]\narguments = [1]", "sayso.toml:2: this must be a table of arguments"),
        ("[verify.tools.a]\narguments = {}", "sayso.toml:2: this must be an array, not a table"),
        (
            "[verify.tools.a]\narguments = [{d = 2026-01-15}]",
            "sayso.toml:2: an argument cannot be a date or a time",
        ),
        ('[verify.tools.a]\nskip = ""', "sayso.toml:2: this must be a reason, not empty"),
        ("[verify.tools.a]", "sayso.toml:1: this table is empty"),
        (
            '[verify.tools.a]\narguments = [{}]\nskip = "x"',
            "sayso.toml:3: “a” has both skip and arguments",
        ),
        ("[verify\n", "sayso.toml:1"),
    ],
)
def test_a_mistake_is_told_with_its_file_and_line(text: str, said: str) -> None:
    with pytest.raises(MistakesError) as raised:
        load_hints(text)

    assert str(raised.value).startswith(said)


def test_every_mistake_is_told_at_once() -> None:
    with pytest.raises(MistakesError) as raised:
        load_hints('[verify]\nown = 1\norder = "a"')

    assert [one.where for one in raised.value.errors] == ["sayso.toml:2", "sayso.toml:3"]


def test_a_tool_that_the_server_does_not_have_is_a_mistake() -> None:
    hints = load_hints(ALL)

    hints.check(["pay", "delete_note"])
    with pytest.raises(MistakesError) as raised:
        hints.check(["pay", "delete_notes"])
    assert str(raised.value) == (
        "sayso.toml:7: the server has no tool “delete_note”. Did you mean “delete_notes”?"
    )


def test_a_file_is_read_and_one_that_is_missing_is_named(tmp_path: Path) -> None:
    path = tmp_path / "sayso.toml"
    path.write_text(ALL, encoding="utf-8")

    assert read_hints(path).where == str(path)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_hints(tmp_path / "other.toml")
