"""Loading: from the text of policy.toml to a policy, or to all that is wrong with it."""

from pathlib import Path

from sayso.errors import PolicyError, UsageError
from sayso.policy.build import build_policy
from sayso.policy.document import Policy
from sayso.policy.format import POLICY
from sayso.settings import read_document


def load_policy(text: str, where: str = "policy.toml") -> Policy:
    """The policy that `text` says; `where` is the name of its file, for errors.

    Raises `PolicyError` with every mistake, each with its line.

    >>> load_policy('mode = "strict"').mode
    <Mode.STRICT: 'strict'>
    """
    document = read_document(text, where, POLICY)
    policy = build_policy(document)
    document.finish()
    return policy


def check_policy(policy: object, *, where: str) -> None:
    """Raise `UsageError` unless `policy` is a `Policy`, the path of a policy.toml, or `None`.

    `where` is the name of the function that was called with it.
    """
    if policy is None or isinstance(policy, Policy | str | Path):
        return
    what = f"policy must be a Policy or the path of a policy.toml, got {type(policy).__name__}"
    raise UsageError(what, where=where, fix="Write policy=sayso.policy.Policy(mode='strict').")


def reload(current: Policy, text: str, where: str) -> tuple[Policy, PolicyError | None]:
    """The policy that `text` says; or, where it holds mistakes, `current` and what they are."""
    try:
        return load_policy(text, where), None
    except PolicyError as error:
        return current, error
