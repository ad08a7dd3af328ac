"""What every client says, step by step: all that the server from npm can do."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from sayso.catalog import SEPARATOR


@dataclass(frozen=True)
class Step:
    """One request. `until` is a notification that must come after it, `is_cancelled` at once.

    `is_told` wants progress.
    """

    name: str
    method: str
    params: dict[str, Any] = field(default_factory=dict[str, Any])
    until: str | None = None
    is_told: bool = False
    is_cancelled: bool = False

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def call(tool: str, said: dict[str, Any] | None = None, name: str = "", **more: Any) -> Step:
    return Step(name or tool, "tools/call", {"name": tool, "arguments": said or {}}, **more)


def ask(prompt: str, **said: str) -> Step:
    name = " ".join(["prompt", prompt, *said])
    return Step(name, "prompts/get", {"name": prompt, "arguments": said})


def read(uri: str) -> Step:
    return Step(f"read {uri}", "resources/read", {"uri": uri})


def complete(name: str, ref: dict[str, str], argument: str, value: str, **known: str) -> Step:
    params: dict[str, Any] = {"ref": ref, "argument": {"name": argument, "value": value}}
    if known:
        params["context"] = {"arguments": known}
    return Step(f"complete {name}", "completion/complete", params)


TEXT = "demo://resource/dynamic/text"
TEAM = {"type": "ref/prompt", "name": "completable-prompt"}
SAMPLE = {"prompt": "Say hello", "maxTokens": 7}

LISTS = (
    Step("tools", "tools/list"),
    Step("prompts", "prompts/list"),
    Step("resources", "resources/list"),
    Step("templates", "resources/templates/list"),
)

CALLS = (
    call("echo", {"message": "hé\u2028llo\n\u0000"}),
    call("echo", name="echo without its argument"),
    call("echo", {"message": 7}, name="echo of a number"),
    call("nope", {"a": 1}, name="a tool that is not there"),
    call("get-annotated-message", {"messageType": "error", "includeImage": True}),
    call("get-env"),
    call("get-resource-links", {"count": 3}),
    call("get-resource-reference", {"resourceType": "Blob", "resourceId": 2}),
    call("get-structured-content", {"location": "Chicago"}),
    call("get-structured-content", {"location": "Bern"}, name="a city that is not there"),
    call("get-sum", {"a": 2, "b": 0.5}),
    call("get-tiny-image"),
)

REST = (
    Step("ping", "ping"),
    read("demo://resource/static/document/features.md"),
    read(f"{TEXT}/7"),
    read("demo://resource/dynamic/blob/7"),
    read("demo://nowhere"),
    ask("simple-prompt"),
    ask("args-prompt", city="Bern", state="BE"),
    ask("args-prompt"),
    ask("completable-prompt", department="Sales", name="David"),
    ask("resource-prompt", resourceType="Text", resourceId="3"),
    ask("nope"),
    complete("a department", TEAM, "department", "S"),
    complete("a name", TEAM, "name", "", department="Sales"),
    complete("an id", {"type": "ref/resource", "uri": f"{TEXT}/{{resourceId}}"}, "resourceId", "1"),
    complete("nothing", {"type": "ref/prompt", "name": "nope"}, "x", "y"),
)

BACK = (
    call("trigger-long-running-operation", {"duration": 0.3, "steps": 3}, is_told=True),
    call(
        "trigger-long-running-operation",
        {"duration": 1, "steps": 1},
        name="a call that is cancelled",
        is_cancelled=True,
    ),
    Step("level", "logging/setLevel", {"level": "debug"}),
    call("toggle-simulated-logging", until="notifications/message"),
    call("toggle-simulated-logging", name="no more logging"),
    Step("subscribe", "resources/subscribe", {"uri": f"{TEXT}/1"}),
    call("toggle-subscriber-updates", until="notifications/resources/updated"),
    call("toggle-subscriber-updates", name="no more updates"),
    Step("unsubscribe", "resources/unsubscribe", {"uri": f"{TEXT}/1"}),
    call(
        "gzip-file-as-resource",
        {"name": "a.gz", "data": "data:text/plain,hello", "outputType": "resourceLink"},
        until="notifications/resources/list_changed",
    ),
    read("demo://resource/session/a.gz"),
    call("get-roots-list"),
    call("trigger-sampling-request", SAMPLE),
    call("trigger-elicitation-request"),
    call("trigger-url-elicitation", {"url": "https://example.com/go", "elicitationId": "e1"}),
    call("simulate-research-query", {"topic": "bees"}),
)

STEPS: Sequence[Step] = (*LISTS, *CALLS, *REST, *BACK)


def among(steps: Sequence[Step], server: str) -> list[Step]:
    """The same steps where names begin with their server's."""

    def named(params: dict[str, Any]) -> dict[str, Any]:
        if "name" in params and "argument" not in params and "value" not in params:
            return {**params, "name": f"{server}{SEPARATOR}{params['name']}"}
        if "ref" in params and "name" in params["ref"]:
            return {**params, "ref": named(params["ref"])}
        return params

    return [replace(one, params=named(one.params)) for one in steps]
