"""A small assembler for seccomp filters (linux/seccomp.h, linux/bpf_common.h).

libseccomp has no maintained Python package on PyPI, and a filter of a few rules is short.
"""

import platform
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

ALLOW: Final = 0x7FFF0000
NOTIFY: Final = 0x7FC00000
"""The process that holds the filter's listener decides (SECCOMP_RET_USER_NOTIF)."""
_REFUSE: Final = 0x00050000
_KILL: Final = 0x80000000

_LOAD: Final = 0x20
_AND: Final = 0x54
_JUMP: Final = 0x05
_IS: Final = 0x15
_IS_AT_LEAST: Final = 0x35
_RETURN: Final = 0x06

_NUMBER_OFFSET: Final = 0
_MACHINE_OFFSET: Final = 4
_ARGUMENTS_OFFSET: Final = 16

_X32_NUMBERS: Final = 0x40000000
"""The first number of x32 calls on x86_64."""
_ENOSYS: Final = 38

MACHINES: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""The machines that filters exist for, and their numbers in linux/audit.h."""

Instruction = tuple[int, int, int, int]


def refuse(error: int) -> int:
    """Return the verdict that makes a call fail with an error's number."""
    return _REFUSE | error


@dataclass(frozen=True, slots=True)
class Test:
    """A test of an argument's low 32 bits, after `mask`: they must (or must not) be in `values`."""

    argument: int
    values: Sequence[int]
    mask: int | None = None
    is_among: bool = True


@dataclass(frozen=True, slots=True)
class Rule:
    """A verdict for each of `calls`, if all `tests` of its arguments hold."""

    calls: Sequence[int]
    verdict: int
    tests: Sequence[Test] = ()


def assemble(machine: str, rules: Sequence[Rule], *, first_unknown: int | None = None) -> bytes:
    """Return the filter: the first rule that matches decides; calls without a match are allowed.

    Calls of another architecture (32 bits) end the process, since their numbers mean other calls.
    Calls with the number `first_unknown` or higher fail with ENOSYS. `machine` is a key of
    `MACHINES`.
    """
    instructions = [
        (_LOAD, 0, 0, _MACHINE_OFFSET),
        (_IS, 1, 0, MACHINES[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER_OFFSET),
    ]
    limit = first_unknown
    if limit is None and machine == "x86_64":
        limit = _X32_NUMBERS
    if limit is not None:
        instructions += [(_IS_AT_LEAST, 0, 1, limit), (_RETURN, 0, 0, refuse(_ENOSYS))]
    for rule in rules:
        for call in rule.calls:
            instructions += _rule(call, rule)
    instructions.append((_RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("=HBBI", *each) for each in instructions)


def this_machine() -> str | None:
    """Return this machine's key in `MACHINES`, or `None` if no filter exists for it."""
    return next((machine for machine in MACHINES if machine == platform.machine()), None)


def _rule(call: int, rule: Rule) -> Iterator[Instruction]:
    body: list[Instruction] = [(_RETURN, 0, 0, rule.verdict)]
    for test in reversed(rule.tests):
        body = [*_test(test, skipped=len(body)), *body]
    if rule.tests:
        # The tests have loaded an argument; the next rule compares the call's number again.
        body.append((_LOAD, 0, 0, _NUMBER_OFFSET))
    yield _IS, 1, 0, call
    yield _JUMP, 0, 0, len(body)
    yield from body


def _test(test: Test, *, skipped: int) -> Iterator[Instruction]:
    yield _LOAD, 0, 0, _ARGUMENTS_OFFSET + 8 * test.argument
    if test.mask is not None:
        yield _AND, 0, 0, test.mask
    count = len(test.values)
    for index, value in enumerate(test.values):
        yield _IS, count - index, 0, value
    # After a match, execution goes on at the second of these jumps; without one, at the first.
    if test.is_among:
        yield _JUMP, 0, 0, skipped + 1
        yield _JUMP, 0, 0, 0
    else:
        yield _JUMP, 0, 0, 1
        yield _JUMP, 0, 0, skipped
