"""A manifest of a server's promises, and the mark for tests that cover them."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sayso.errors import UsageError

if TYPE_CHECKING:
    import pytest

MARK: Final = "sayso_requirement"


@dataclass(frozen=True, slots=True)
class Manifest:
    """Promises by id, and the file that declares them.

    >>> Manifest({"customers.delete-asks": "A delete waits for a person"})["customers.delete-asks"]
    'A delete waits for a person'
    """

    promises: Mapping[str, str]
    file: str | None = None

    def __getitem__(self, promise: str) -> str:
        """Return the text of one promise."""
        return self.promises[promise]


_manifests: Final[list[Manifest]] = []


def manifest(promises: Mapping[str, str]) -> Manifest:
    """Declare a server's promises; the plugin compares them with the tests, in both directions.

    Declare them where every run imports them, such as `conftest.py`. Raises `UsageError` for an
    empty id or text, and for an id that already has another text.

    >>> promises = manifest({"customers.delete-asks": "A delete waits for a person"})
    >>> promises["customers.delete-asks"]
    'A delete waits for a person'
    """
    for promise, text in promises.items():
        where = f"manifest, {promise!r}"
        if not promise.strip() or not text.strip():
            raise UsageError("a promise requires an id and a text", where=where)
        other = known().get(promise, text)
        if other != text:
            fix = "Choose another id."
            raise UsageError(f"this id already has the text “{other}”", where=where, fix=fix)
    file = sys._getframe(1).f_globals.get("__file__")  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - the caller's
    made = Manifest(dict(promises), file)
    if made not in _manifests:
        _manifests.append(made)
    return made


def requirement(*promises: str) -> "pytest.MarkDecorator":
    """Mark a test, a class of tests or a module's `pytestmark` as covering these promises.

    >>> requirement("customers.delete-asks").args
    ('customers.delete-asks',)
    """
    import pytest  # noqa: PLC0415 - only tests need it

    if not promises or not all(isinstance(promise, str) for promise in promises):  # pyright: ignore[reportUnnecessaryIsInstance] - `@requirement` without parentheses
        fix = 'Write @requirement("the.id").'
        raise UsageError("a promise's id is required", where="requirement", fix=fix)
    return getattr(pytest.mark, MARK)(*promises)


def known() -> dict[str, str]:
    """Return all promises that were declared so far."""
    return {promise: text for declared in _manifests for promise, text in declared.promises.items()}


def manifests() -> tuple[Manifest, ...]:
    """Return all manifests that were declared so far."""
    return tuple(_manifests)
