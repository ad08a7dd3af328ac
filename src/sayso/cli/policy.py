"""`sayso policy`: whether a policy holds together, and whether it decides as expected."""

from pathlib import Path
from typing import Annotated, Final

from cyclopts import App, Parameter
from rich.text import Text

from sayso.cli.terminal import out, plain, print_json, working
from sayso.errors import ConfigError
from sayso.policy import Case, CaseResult, Policy, json_schema, load_cases, load_policy, run_case

_SCHEMA: Final = 1

policy = App(
    name="policy",
    help="Check a policy, and test what it decides.",
    help_format="plaintext",
)


@policy.command
def check(
    *words: str,
    policy: str | None = None,
    json: bool = False,
    timeout: float = 30.0,
    command: Annotated[list[str] | None, Parameter(parse=False)] = None,
) -> int:
    """Read a policy and report every mistake in it with its line.

    With a target, connect to its servers and report rules that match none of their tools. Exit
    code 2 for a mistake, 1 for a rule that matches nothing.

    Parameters
    ----------
    words
        The policy, if it ends in .toml (default: policy.toml), and targets as for sayso inspect.
    policy
        The policy. All words are targets then.
    json
        Print one JSON document.
    timeout
        Seconds to wait for the servers.
    """
    file, places = _file_and_places(words, policy)
    found = read_policy(file)
    has_target = bool(places or command)
    told, silent = _unmatched(found, places, command, timeout) if has_target else ([], [])
    if json:
        document = {"schema": _SCHEMA, "policy": file, "mode": str(found.mode)}
        checked = {"unmatched": told, "unknown_servers": silent} if has_target else {}
        print_json({**document, "rules": _names(found), **checked})
        return int(bool(told))
    count = len(found.rules)
    noun = "rule" if count == 1 else "rules"
    head = "no mistakes" if not told else f"{len(told)} without a match"
    out().print(Text(plain(f"{file}: mode {found.mode}, {count} {noun}, {head}")))
    for line in told:
        out().print(Text(plain(f"  {line}"), style="red"))
    for line in silent:
        out().print(Text(plain(f"  {line}: no answer, so its tools are unknown")))
    return int(bool(told))


def _file_and_places(words: tuple[str, ...], policy: str | None) -> tuple[str, list[str]]:
    if policy is not None:
        return policy, [*words]
    if words and (words[0].endswith(".toml") or (len(words) == 1 and _is_policy(words[0]))):
        return words[0], [*words[1:]]
    return "policy.toml", [*words]


def _is_policy(word: str) -> bool:
    path = Path(word)
    is_target = path.suffix in {".json", ".jsonc", ".py", ".js"}
    return path.is_dir() or (path.is_file() and not is_target)


def _unmatched(
    found: Policy, places: list[str], command: list[str] | None, timeout: float
) -> tuple[list[str], list[str]]:
    import anyio

    from sayso.cli.address import check_seconds
    from sayso.cli.surface import Surface, read_surfaces
    from sayso.connect import parse_target
    from sayso.policy import facts_of, seen_under, unmatched, without_dry_run

    check_seconds(timeout, "--timeout")
    targets = parse_target([*places, *(command or ())], is_command=bool(command) and not places)
    with working("Asking for the tools …"):
        surfaces = anyio.run(read_surfaces, targets, timeout)
    pairs = list(zip(targets, surfaces, strict=True))
    silent = [target.name for target, surface in pairs if not isinstance(surface, Surface)]
    listed = [
        tool for _, surface in pairs if isinstance(surface, Surface) for tool in surface.tools
    ]
    tools = [facts_of(seen_under(found, tool)) for tool in listed]
    names = [target.name for target in targets]
    told = unmatched(found, tools, servers=names, unknown=silent)
    return [*told, *without_dry_run(found, listed)], silent


@policy.command(name="test")
def run_cases(file: str = "policy.toml", *, cases: str | None = None, json: bool = False) -> int:
    """Decide the cases beside a policy, and show those that come out otherwise.

    Exit code 1 when one does.

    Parameters
    ----------
    file
        The policy.
    cases
        Where the cases are. Default: beside the policy; policy.test.toml for policy.toml.
    json
        Print one JSON document.
    """
    where = str(Path(file).with_suffix(".test.toml")) if cases is None else cases
    found = read_policy(file)
    results = [run_case(found, case) for case in _read_cases(where)]
    failed = [result for result in results if result.faults]
    if json:
        fields = [result.to_dict() for result in results]
        print_json({"schema": _SCHEMA, "policy": file, "failed": len(failed), "cases": fields})
    else:
        _print(where, results, failed)
    return int(bool(failed))


@policy.command
def schema() -> None:
    """Print the JSON Schema of policy.toml, for editors."""
    print_json(json_schema())


def read_policy(file: str) -> Policy:
    """The policy in `file`; raises `PolicyError`, or `ConfigError` where it cannot be read."""
    return load_policy(_read(file), file)


def _read_cases(file: str) -> tuple[Case, ...]:
    return load_cases(_read(file), file)


def _read(file: str) -> str:
    from sayso.settings import read_text

    if Path(file).is_dir():
        raise ConfigError("this is not a file", where=file, fix="Name the policy in it.")
    return read_text(file)


def _names(found: Policy) -> list[dict[str, object]]:
    return [
        {"name": rule.name, "line": rule.line, "effect": str(rule.effect)} for rule in found.rules
    ]


def _print(where: str, results: list[CaseResult], failed: list[CaseResult]) -> None:
    console = out()
    for result in failed:
        console.print(Text(plain(f"{where}:{result.case.line}: {result.case.name}"), style="red"))
        for fault in result.faults:
            console.print(Text(plain(f"  {fault}")))
    passed = len(results) - len(failed)
    console.print(Text(f"{passed} of {len(results)} cases are as expected"))
