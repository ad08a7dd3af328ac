"""Who calls."""

from avow.policy import LOCAL, Principal


def test_a_principal_is_known_by_its_subject_and_holds_nothing_by_itself() -> None:
    assert Principal("amy") == Principal("amy", client="unknown", scopes=None, roles=frozenset())


def test_two_clients_of_one_subject_are_two_principals() -> None:
    assert Principal("amy", client="a") != Principal("amy", client="b")


def test_a_caller_without_authentication_has_one_name() -> None:
    assert LOCAL == "local"
