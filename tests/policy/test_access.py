"""Access by scopes and roles alone, where there is no policy."""

from tests.policy.samples import AMY

from avow.intent import READ_ONLY
from avow.policy import Principal, has_access


def test_a_caller_needs_every_scope_and_one_of_the_roles() -> None:
    assert has_access(AMY, READ_ONLY.but(scopes={"crm.read"}, roles={"staff", "lead"}))
    assert not has_access(AMY, READ_ONLY.but(scopes={"crm.read", "crm.write"}))
    assert not has_access(AMY, READ_ONLY.but(roles={"lead"}))
    assert has_access(Principal("local"), READ_ONLY.but(scopes={"x"}, roles={"lead"}))
