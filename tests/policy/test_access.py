"""Who may know of a tool by scopes and roles alone, where no rule hides it."""

from tests.policy.samples import AMY, sees

from sayso.intent import READ_ONLY
from sayso.policy import Principal


def test_a_caller_needs_every_scope_and_one_of_the_roles() -> None:
    assert sees(AMY, READ_ONLY.but(scopes={"crm.read"}, roles={"staff", "lead"}))
    assert not sees(AMY, READ_ONLY.but(scopes={"crm.read", "crm.write"}))
    assert not sees(AMY, READ_ONLY.but(roles={"lead"}))
    assert sees(Principal("local"), READ_ONLY.but(scopes={"x"}, roles={"lead"}))
