"""Names that no caller may have."""

import pytest

from sayso.errors import UsageError
from sayso.policy import Principal, is_reserved
from sayso.policy.document import CHANNELS
from sayso.serve.validation import check_choices


@pytest.mark.parametrize(
    "name",
    [
        "console",
        "Console",
        " link",
        "TERMINAL",
        "t\u00e9rminal",
        "\u0441onsole",
        "l\u0131nk",
        "con\u200bsole",
        "\uff43onsole",
        "elicitation",
        "local",
        "LOCAL",
        "key:amy",
        "Client:amy",
        *("program", "\u0440rogram", "conso1e", "c0nsole", "loc\u0251l", "1ink"),
        *("consoIe", "lInk", "termina|", "prograrn", "terrninal", "IocaI", "cIient:amy"),
        *("\u1d04\u1d0f\u0274\ua731\u1d0f\u029f\u1d07", "\U0001f152onsole", "co\u057csole"),
        *("\U0001f1e8onsole", "c\u2c9fnsole", "console\u3164", "\xabconsole\xbb", "lo\u1d04al"),
        *("\u0142ocal", "\u0254onsole", "k\u212ey:amy", "\ua4d4oken:amy", "toke\u03b7:amy"),
        *("key\u02d0amy", "key\u2236amy", "key\ua789amy", "client\u0589amy", "tenant\uff1aacme"),
    ],
)
def test_a_name_of_saysos_own_is_reserved_however_it_is_written(name: str) -> None:
    assert is_reserved(name)
    if name != "local":
        with pytest.raises(UsageError, match="is reserved"):
            check_choices(Principal(name), None, "", 1.0)


@pytest.mark.parametrize(
    "name",
    [
        "amy",
        "consoles",
        "linker",
        "amy@example.com",
        "terminal-2",
        "",
        "keyamy",
        "l10",
        "\u5c71\u7530\u592a\u90ce",
        "j\xfcrgen",
        *("\u0438\u0440\u0438\u043d\u0430", "l\xf8kke", "\u5c71\u7530k", "local-7", "iink-a"),
    ],
)
def test_any_other_name_is_free(name: str) -> None:
    assert not is_reserved(name)
    check_choices(Principal(name), None, "", 1.0)


def test_whoever_answers_over_a_channel_without_a_name_has_its_name_alone() -> None:
    assert all(map(is_reserved, CHANNELS))
