"""Coverage of promises by tests, evaluated at the end of a run."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from sayso.testing.promises import Manifest

_RANKS: Final = ("failed", "passed", "skipped")
_WORDS: Final = {
    "passed": "passed",
    "failed": "failed",
    "skipped": "skipped",
    "": "did not run",
}


@dataclass(slots=True)
class PromiseCoverage:
    """The tests of each promise, with their outcomes. `problems` fail the run."""

    problems: list[str] = field(default_factory=list[str])
    remarks: list[str] = field(default_factory=list[str])
    manifests: tuple[Manifest, ...] = ()
    _claims: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    _ends: dict[str, str] = field(default_factory=dict[str, str])

    def claim(self, test: str, promises: Iterable[str]) -> None:
        """Note that a test covers these promises."""
        for promise in promises:
            self._claims.setdefault(promise, []).append(test)

    def note(self, test: str, when: str | None, outcome: str) -> None:
        """Note the outcome of one phase of a test; a failure in any phase counts."""
        if outcome != "passed" or (when == "call" and test not in self._ends):
            self._ends[test] = "failed" if "failed" in (outcome, self._ends.get(test)) else outcome

    def homes(self) -> list[Path]:
        """Return the folders of the files with manifests."""
        return [Path(declared.file).parent for declared in self.manifests if declared.file]

    def settle(self, partial: str | None) -> None:
        """Compare promises and tests; `partial` is the reason why tests may be missing."""
        promises = {
            key: text for declared in self.manifests for key, text in declared.promises.items()
        }
        if not promises and (partial or not self._claims):
            return
        self.problems += [
            _no_promise(promise, tests, promises)
            for promise, tests in sorted(self._claims.items())
            if promise not in promises
        ]
        missing = [promise for promise in promises if promise not in self._claims]
        if not partial:
            self.problems += [
                f"no test covers the promise {promise}: {promises[promise]}" for promise in missing
            ]
        counts = Counter(self._end(promise) for promise in promises if promise in self._claims)
        parts = [f"{counts[end]} {words}" for end, words in _WORDS.items() if counts[end]]
        noun = "promise" if len(promises) == 1 else "promises"
        self.remarks.append(f"{len(promises)} {noun}: {', '.join(parts) or 'none tested'}")
        if partial and missing:
            self.remarks.append(f"not checked whether all promises have tests: {partial}")

    def _end(self, promise: str) -> str:
        """Return the outcome of its tests: a failure, or else the best one."""
        ends = {self._ends.get(test, "") for test in self._claims[promise]}
        return next((end for end in _RANKS if end in ends), "")


def _no_promise(promise: str, tests: list[str], promises: Iterable[str]) -> str:
    close = get_close_matches(promise, list(promises), n=1)
    named = tests[0]
    if len(tests) > 1:
        named += f" and {len(tests) - 1} more"
    fix = "add it to a manifest"
    if close:
        fix = f"did you mean {close[0]}?"
    return f"{named} covers {promise}, which is not in a manifest; {fix}"
