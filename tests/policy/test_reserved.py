"""Names that no caller may have."""

import pytest

from avow.errors import UsageError
from avow.policy import Principal, is_reserved
from avow.policy.document import CHANNELS
from avow.serve.given import check_choices


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
        *("key\u02d0amy", "key\u2236amy", "key\ua789amy", "client\u0589amy", "tenant\uff1aacme"),
    ],
)
def test_a_name_of_avows_own_is_reserved_however_it_is_written(name: str) -> None:
    assert is_reserved(name)
    if name != "local":
        with pytest.raises(UsageError, match="gives the name"):
            check_choices(Principal(name), None, 1.0)


@pytest.mark.parametrize(
    "name", ["amy", "consoles", "linker", "amy@example.com", "terminal-2", "", "keyamy", "l10"]
)
def test_any_other_name_is_free(name: str) -> None:
    assert not is_reserved(name)
    check_choices(Principal(name), None, 1.0)


def test_whoever_answers_over_a_channel_without_a_name_has_its_name_alone() -> None:
    assert all(map(is_reserved, CHANNELS))
