"""Who calls."""

from sayso.policy import LOCAL, Principal, subject_of
from sayso.policy.principal import account_of


def test_a_principal_is_known_by_its_subject_and_holds_nothing_by_itself() -> None:
    assert Principal("amy") == Principal("amy", client="unknown", scopes=None, roles=frozenset())


def test_two_clients_of_one_subject_are_two_principals() -> None:
    assert Principal("amy", client="a") != Principal("amy", client="b")


def test_a_caller_without_authentication_has_one_name() -> None:
    assert LOCAL == "local"


def test_one_subject_in_two_tenants_is_two_accounts() -> None:
    amy = Principal("amy", tenant="acme")
    assert (amy.account, Principal("amy").account) == ("tenant:acme/amy", "amy")
    assert amy.caller == "tenant:acme/amy unknown"
    known = Principal("amy", scopes=frozenset(), tenant="acme")
    assert known.caller == known.account
    assert subject_of(account_of("a/b:c", "x/y")) == "a/b:c"
