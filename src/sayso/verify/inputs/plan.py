"""The cases (arguments) for a tool's calls: likely ones, then each input class, then drawn ones.

The plan learns from results: later cases reuse values that succeeded.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from sayso.catalog import Tool
from sayso.errors import UsageError
from sayso.verify.call import Case
from sayso.verify.inputs.captured_values import CapturedValues
from sayso.verify.inputs.classes import Parameter, classes_of, parameters_of
from sayso.verify.inputs.flattener import Flattener
from sayso.verify.inputs.hints import VerifyHints
from sayso.verify.inputs.option_values import Option
from sayso.verify.inputs.options import Sources
from sayso.verify.inputs.repair import corrections
from sayso.verify.inputs.roles import Role
from sayso.verify.inputs.schema import excess_of, make_checker, make_values
from sayso.verify.inputs.world import World

_Drawn = TypeVar("_Drawn")

REPEATS: Final = 4
"""The number of repetitions of a successful case: a tool may break a hint only the third time."""
_SHARE: Final = 5
"""The budget is divided by this for the drawn cases, and for the search for a first success."""
_LEAST_ATTEMPTS: Final = 3
_MOST_CORRECTIONS: Final = 3
"""The maximum number of corrections of one case before another case is tried."""
_UNLIKELY: Final = frozenset(["missing", "outside", "empty", "null", "longest", "maximum"])
_SOUND: Final = frozenset(["harvest", "role", "default", "example"])
_ORIGINS: Final = (
    *("harvest", "role", "example", "default", "enum", "source", "generated", "boundary"),
)


class Plan(Iterator[Case]):
    """The cases for one tool, at most `budget`, the same for the same seed and captured values.

    Pass each case's result to `tell` before the next case. `problem` is the reason why no case can
    be made, or empty.
    """

    def __init__(
        self,
        tool: Tool,
        world: World,
        captured: CapturedValues,
        hints: VerifyHints,
        *,
        seed: int,
        budget: int,
    ) -> None:
        self.problem = ""
        self.parameters: tuple[Parameter, ...] = ()
        self._given = hints.of(tool.name)
        self._schema: Mapping[str, Any] = tool.input_schema or {"type": "object"}
        self._seed = seed
        self._budget = budget
        self._made = 0
        self._reached: set[str] = set()
        self._tried: set[str] = set()
        self._why: dict[str, str] = {}
        self._base: Case | None = None
        self._has_succeeded = False
        self._is_told = False
        self._last: Case | None = None
        self._said = ""
        self._world = world
        checked = self._schema
        if excess := excess_of(self._schema):
            self.problem = f"the tool's input schema is too large: {excess}"
            checked = {}
        try:
            self._checker = make_checker(checked)
        except UsageError as error:
            self.problem = f"the tool's input schema is invalid: {error.what}"
        if not self.problem:
            sources = Sources(tool.raw, Flattener(self._schema), world, captured, seed)
            self.parameters = self._attempt(lambda: parameters_of(sources, self._schema)) or ()
        if self._given.skip:
            self.problem = self._given.skip
        self._cases = self._plan()

    def __iter__(self) -> "Plan":
        return self

    def _attempt(self, work: Callable[[], _Drawn]) -> _Drawn | None:
        """Run work on the tool's schema. If the work fails, set `problem` and return `None`."""
        try:
            return work()
        except Exception as error:  # noqa: BLE001 - one tool's schema must not end the whole run
            problem = f"the tool's input schema cannot be processed ({type(error).__name__})"
            self.problem = problem
            return None

    def __next__(self) -> Case:
        case = self._attempt(lambda: next(self._cases, None))
        if case is None:
            raise StopIteration
        self._tried |= case.classes
        self._last = case
        return case

    def tell(self, case: Case, *, is_success: bool, text: str = "") -> None:
        """Record the result of a case, with its `text`. Later cases start from a success."""
        self._is_told = True
        self._said = text
        if not is_success:
            return
        self._reached |= case.classes
        if not self._has_succeeded:
            self._base = case
        self._has_succeeded = True

    def is_valid(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether the tool's schema accepts these arguments."""
        return not self.problem and self._checker.is_valid(dict(arguments))

    @property
    def classes(self) -> frozenset[str]:
        """Return all input classes of the tool."""
        return frozenset(name for parameter in self.parameters for name, _ in parameter.classes())

    @property
    def left(self) -> dict[str, str]:
        """Return the classes that were not covered, each with the reason."""
        left = self.classes - self._tried
        if self._is_told:
            left = self.classes - self._reached
        return {name: self._reason(name) for name in sorted(left)}

    def _reason(self, name: str) -> str:
        if self.problem:
            return self.problem
        if name in self._why:
            return self._why[name]
        if name in self._tried:
            return "no call with this input succeeded"
        return "the call budget was used up"

    def _plan(self) -> Iterator[Case]:
        if self.problem:
            return
        yield from self._limited(self._firsts(), self._budget)
        drawn = max(1, self._budget // _SHARE)
        yield from self._limited(self._covering(), self._budget - REPEATS - drawn)
        if self._base is not None and (self._has_succeeded or not self._is_told):
            yield from self._limited(iter([self._base] * REPEATS), self._budget)
        yield from self._limited(self._drawn(), self._budget)

    def _limited(self, cases: Iterator[Case], most: int) -> Iterator[Case]:
        while self._made < most:
            case = next(cases, None)
            if case is None:
                return
            self._made += 1
            yield case

    def _firsts(self) -> Iterator[Case]:
        for number, given in enumerate(self._given.arguments, start=1):
            if self.is_valid(given):
                yield self._case(given, "given")
            else:
                problem = self._checker.problems(dict(given))[0]
                self._why[f"given {number}"] = f"the input schema rejects it: {problem}"
        if self._has_succeeded:
            return
        attempts = max(_LEAST_ATTEMPTS, self._budget // _SHARE)
        seen: list[Mapping[str, Any]] = []
        for case in self._likely():
            if case.arguments in seen:
                continue
            self._base = self._base or case
            seen.append(case.arguments)
            yield case
            if self._has_succeeded or not self._is_told:
                return
            yield from self._corrected(case, seen)
            attempts -= 1
            if self._has_succeeded or attempts <= 0:
                return
        if not seen and not self._given.arguments:
            self.problem = "no valid arguments were found"

    def _corrected(self, case: Case, seen: list[Mapping[str, Any]]) -> Iterator[Case]:
        for _ in range(_MOST_CORRECTIONS):
            better = self._better(case, seen)
            if better is None:
                return
            seen.append(better.arguments)
            yield better
            if self._has_succeeded:
                return
            case = better

    def _better(self, case: Case, seen: list[Mapping[str, Any]]) -> Case | None:
        for arguments in corrections(case.arguments, self._said, self.parameters, self._world):
            if arguments not in seen and self.is_valid(arguments):
                return self._case(arguments, "harvest")
        return None

    def _likely(self) -> Iterator[Case]:
        found = self._chosen(0, has_optional=False)
        first = self._valid(found)
        if first is None:
            yield from self._repaired(found)
        else:
            yield first
        if more := self._valid(self._chosen(0, has_optional=True)):
            yield more
        for index in range(1, _LEAST_ATTEMPTS + 2):
            if other := self._valid(self._chosen(index, has_optional=False)):
                yield other
        yield from self._repaired(found)

    def _chosen(self, index: int, *, has_optional: bool) -> dict[str, Option]:
        found: dict[str, Option] = {}
        for parameter in self.parameters:
            likely = [option for option in parameter.options if option.label not in _UNLIKELY]
            is_sound = bool(likely) and likely[0].origin in _SOUND
            if (parameter.is_required or (has_optional and is_sound)) and parameter.options:
                options = likely or list(parameter.options)
                chosen = options[min(index, len(options) - 1)]
                if parameter.meaning.role is Role.ID:
                    chosen = _other_than(found, chosen, options)
                found[parameter.name] = chosen
        return found

    def _valid(self, chosen: Mapping[str, Option]) -> Case | None:
        arguments = {name: option.value for name, option in chosen.items()}
        if not self.is_valid(arguments):
            return None
        return self._case(arguments, _origin(option.origin for option in chosen.values()))

    def _repaired(self, chosen: Mapping[str, Option]) -> Iterator[Case]:
        for drawn in self._values(3):
            arguments = dict(drawn)
            for name, option in chosen.items():
                trial = {**arguments, name: option.value}
                if self.is_valid(trial):
                    arguments = trial
            yield self._case(arguments, "generated")

    def _covering(self) -> Iterator[Case]:
        if self._base is None:
            return
        places = [list(named.classes()) for named in self.parameters]
        for index in range(max(map(len, places), default=0)):
            for parameter, classes in zip(self.parameters, places, strict=True):
                if index < len(classes) and classes[index][0] not in self._tried:
                    yield from self._reaching(parameter, *classes[index])

    def _reaching(
        self, parameter: Parameter, name: str, options: tuple[Option, ...]
    ) -> Iterator[Case]:
        base = self._base
        if base is None:
            return
        rest = {key: value for key, value in base.arguments.items() if key != parameter.name}
        trials = [({**rest, parameter.name: option.value}, option.origin) for option in options]
        for arguments, origin in trials or [(rest, base.origin)]:
            if self.is_valid(arguments):
                case = self._case(arguments, origin)
                yield replace(case, classes=case.classes | {name})
                return
        self._why[name] = "the input schema rejects it together with the other arguments"

    def _drawn(self) -> Iterator[Case]:
        kept: dict[str, Any] = {}
        if self._base is not None:
            in_world = {parameter.name for parameter in self.parameters if parameter.is_in_world}
            arguments = self._base.arguments
            kept = {name: value for name, value in arguments.items() if name in in_world}
        seen: list[Mapping[str, Any]] = []
        for drawn in self._values(self._budget - self._made):
            arguments = {**drawn, **kept}
            if not self.is_valid(arguments):
                arguments = drawn
            if arguments not in seen:
                seen.append(arguments)
                yield self._case(arguments, "generated")

    def _values(self, count: int) -> list[dict[str, Any]]:
        drawn = make_values(self._schema, seed=self._seed, count=count)
        return [value for value in drawn if isinstance(value, dict)]

    def _case(self, arguments: Mapping[str, Any], origin: str) -> Case:
        return Case(dict(arguments), classes_of(self.parameters, arguments), origin)


def _other_than(found: Mapping[str, Option], chosen: Option, options: Sequence[Option]) -> Option:
    """Return an id that no other parameter has: a thing is rarely related to itself."""
    taken = [option.value for option in found.values()]
    if chosen.value not in taken:
        return chosen
    return next((option for option in options if option.value not in taken), chosen)


def _origin(origins: Iterator[str]) -> str:
    found = set(origins)
    return next((origin for origin in _ORIGINS if origin in found), "generated")
