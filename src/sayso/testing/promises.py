"""A manifest of what a server promises, and the tests that show it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sayso.errors import UsageError

if TYPE_CHECKING:
    import pytest

MARK: Final = "sayso_requirement"


@dataclass(frozen=True, slots=True)
class Manifest:
    """Promises by their id, and the file that holds them, if one does.

    >>> Manifest({"customers.delete-asks": "A delete waits for a person"})["customers.delete-asks"]
    'A delete waits for a person'
    """

    promises: Mapping[str, str]
    file: str | None = None

    def __getitem__(self, promise: str) -> str:
        """What one promise says."""
        return self.promises[promise]


_manifests: Final[list[Manifest]] = []


def manifest(promises: Mapping[str, str]) -> Manifest:
    """Declare what a server promises; the plugin holds it against the tests, in both directions.

    Put it where every run imports it, such as `conftest.py`. Raises `UsageError` for an id or a
    promise that is empty, and for an id that says something else already.

    >>> promises = manifest({"customers.delete-asks": "A delete waits for a person"})
    >>> promises["customers.delete-asks"]
    'A delete waits for a person'
    """
    for promise, text in promises.items():
        where = f"manifest, {promise!r}"
        if not promise.strip() or not text.strip():
            raise UsageError("a promise has an id and says something", where=where)
        said = known().get(promise, text)
        if said != text:
            raise UsageError(f"this id says “{said}” already", where=where, fix="Take another.")
    import sys  # noqa: PLC0415 - for this one look

    file = sys._getframe(1).f_globals.get("__file__")  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - who declares it
    made = Manifest(dict(promises), file)
    if made not in _manifests:
        _manifests.append(made)
    return made


def requirement(*promises: str) -> "pytest.MarkDecorator":
    """Mark a test, a class of tests or a module's `pytestmark` as showing these promises.

    >>> requirement("customers.delete-asks").args
    ('customers.delete-asks',)
    """
    import pytest  # noqa: PLC0415 - who marks tests has it

    if not promises or not all(isinstance(promise, str) for promise in promises):  # pyright: ignore[reportUnnecessaryIsInstance] - `@requirement` without parentheses
        fix = 'Write @requirement("the.id").'
        raise UsageError("a requirement names its promise", where="requirement", fix=fix)
    return getattr(pytest.mark, MARK)(*promises)


def known() -> dict[str, str]:
    """All promises that were declared so far."""
    return {promise: text for declared in _manifests for promise, text in declared.promises.items()}


def manifests() -> tuple[Manifest, ...]:
    """All manifests that were declared so far."""
    return tuple(_manifests)
