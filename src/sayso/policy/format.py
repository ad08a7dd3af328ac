"""The format of policy.toml: checked on load, and published as JSON Schema."""

from typing import Any, Final

from sayso.intent import HINT_NAMES, KEY_FORM, LAYERS, THRESHOLD, Level, Source, Span, Trust
from sayso.policy.decision import Effect, Listing, Mode, Require
from sayso.policy.document import (
    CHANNELS,
    MAX_OPEN_QUESTIONS,
    MAX_RESULT_CHARACTERS,
    MIN_RESULT_CHARACTERS,
)
from sayso.policy.receipts import LEAST_CALLS
from sayso.schema import LIMIT
from sayso.settings import (
    DURATION,
    Boolean,
    Choice,
    Either,
    Items,
    Json,
    Key,
    Named,
    Number,
    Table,
    Text,
    one_or_more,
)

SCHEMA_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
DEFAULT_WITHIN: Final = "30m"
LONGEST_EXPRESSION: Final = 2000

_NAMES: Final = one_or_more(Text())
_LEVELS: Final = one_or_more(Choice(tuple(Level)))
_COUNT: Final = Number(1, 1_000_000, is_whole=True)
_DURATION: Final = Text("a duration such as 45s, 30m, 2h or 1d", DURATION)
_HINT_DOCS: Final = {name: f"the value of the hint {name}" for name in HINT_NAMES}

_RANGE: Final = Table(
    {
        "min": Key(Number(), "the minimum, inclusive"),
        "max": Key(Number(), "the maximum, inclusive"),
    },
    least=1,
)
_ARGUMENT: Final = Table(
    {
        "equals": Key(Json(), "the value equals this, and has the same type"),
        "glob": Key(_NAMES, "the value is a text that matches this glob, or one of several"),
        "range": Key(_RANGE, "the value is a number within these bounds"),
        "exists": Key(Boolean(), "whether the argument has a value"),
    },
    least=1,
)
_TOOL_KEYS: Final[dict[str, Key]] = {
    "level": Key(_LEVELS, "the call's level, or a list of levels"),
    **{name: Key(Boolean(), doc) for name, doc in _HINT_DOCS.items()},
    "source": Key(
        Table(
            {
                name: Key(one_or_more(Choice(tuple(Source))), f"the source of {name}, or a list")
                for name in HINT_NAMES
            },
            least=1,
        ),
        "the sources of hints",
    ),
    "server": Key(_NAMES, "the server's name, or a glob, or a list of them"),
    "tool": Key(_NAMES, "the tool's name at its server, or a glob, or a list of them"),
    "category": Key(_NAMES, "the tool's declared category, or a list of categories"),
    "tag": Key(_NAMES, "a tag that the tool declares, or a list of tags"),
}
_AFTER: Final = Table(
    {
        **_TOOL_KEYS,
        "within": Key(_DURATION, "how far back to look", default=DEFAULT_WITHIN),
        "of": Key(
            Choice(("conversation", "principal")),
            "which earlier calls count: those of this conversation, or all of this principal",
            default="conversation",
        ),
    },
    "an earlier call was of this kind",
)
_MATCHER: Final = Table(
    {
        **_TOOL_KEYS,
        "subject": Key(_NAMES, "the caller's subject, or a glob, or a list of them"),
        "scope": Key(_NAMES, "a scope of the caller or of its roles, or a list of scopes"),
        "role": Key(_NAMES, "a role of the caller, or a list of roles"),
        "tenant": Key(_NAMES, "the caller's tenant, or a glob, or a list of them"),
        "client": Key(_NAMES, "the caller's client, or a glob, or a list of them"),
        "arguments": Key(Named(_ARGUMENT), "conditions on arguments, by their path"),
        "meta": Key(Named(_ARGUMENT), "conditions on forwarded keys of _meta, by their name"),
        "after": Key(_AFTER, "a condition on earlier calls"),
        "expression": Key(Text("an expression in CEL"), "a CEL expression that must be true"),
    },
    least=1,
)
RECEIPT_KEYS: Final = "receipt_keys"
_RECEIPT_KEYS: Final = Key(
    Named(
        Table(
            {
                "key": Key(
                    Text("an Ed25519 public key: 32 bytes in base64", KEY_FORM),
                    "the public key, as sayso receipt keygen prints it",
                    is_required=True,
                ),
                "calls": Key(
                    _COUNT,
                    "the minimum number of calls for a supported hint",
                    default=LEAST_CALLS,
                ),
                "layers": Key(
                    Items(Choice(LAYERS), 0),
                    "the layers that must have contained and observed the server",
                ),
            }
        )
    ),
    "the keys whose receipts count, by a name for each",
)
_REVIEWERS: Final = Table(
    {
        "count": Key(Number(1, 5, is_whole=True), "how many people must approve", default=1),
        "subjects": Key(Items(Text()), "who may answer"),
        "roles": Key(Items(Text()), "who may answer, by role"),
    },
    least=1,
)
_RULE: Final = Table(
    {
        "name": Key(Text(), "the rule's name in decisions and logs", is_required=True),
        "effect": Key(Choice(tuple(Effect)), "what happens to the call", is_required=True),
        "reason": Key(Text(), "the reason, for the person who is asked or refused"),
        "when": Key(_MATCHER, "all conditions must match; without them every call matches"),
        "unless": Key(_MATCHER, "if all these conditions match, the rule does not apply"),
        "require": Key(Choice(tuple(Require)), "the channel strength that the answer needs"),
        "reviewers": Key(
            Either(Number(1, 5, is_whole=True), _REVIEWERS, dict),
            "how many people must approve, or who",
        ),
        "expires": Key(_DURATION, "how long the question can be answered"),
        "grant": Key(Choice(tuple(Span)), "the longest validity of an answer"),
        "limits": Key(
            Table(
                {
                    "calls_per_minute": Key(_COUNT, "calls of one tool by one principal"),
                    "targets": Key(_COUNT, "how many things one call may change"),
                },
                least=1,
            ),
            "matching calls beyond these limits are denied",
        ),
    }
)
_FIRST_USE: Final = Choice((str(Effect.ALLOW), str(Effect.CONFIRM)))
_RESULT_LIMIT: Final = Number(MIN_RESULT_CHARACTERS, MAX_RESULT_CHARACTERS, is_whole=True)
_HINTS: Final = Table({name: Key(Boolean(), doc) for name, doc in _HINT_DOCS.items()}, least=1)

POLICY: Final = Table(
    {
        "mode": Key(
            Choice(tuple(Mode)), "the decision if no rule matches", default=str(Mode.GUARDED)
        ),
        "threshold": Key(
            Number(0.5, 1.0),
            "the confidence that an inference needs to loosen an undeclared hint",
            default=THRESHOLD,
        ),
        "first_use": Key(
            Either(_FIRST_USE, Named(Either(_FIRST_USE, Named(_FIRST_USE), dict)), dict),
            "whether the first use of a tool asks; for all, by server, or by server and tool",
            default=str(Effect.ALLOW),
        ),
        "max_result_characters": Key(
            Either(_RESULT_LIMIT, Named(Either(_RESULT_LIMIT, Named(_RESULT_LIMIT), dict)), dict),
            "the length beyond which results are cut; for all, by server, or by server and tool",
            default=LIMIT,
        ),
        "dry_run": Key(
            Named(Either(Text(), Named(Text()), dict)),
            "a tool's boolean parameter that makes a call a dry run; by server, or server and tool",
        ),
        "trust": Key(
            Named(Choice(tuple(Trust)), {RECEIPT_KEYS: _RECEIPT_KEYS}),
            "how far each server is trusted; “*” sets it for all others",
        ),
        "operator": Key(
            Named(Named(_HINTS)), "hints that override all other sources, by server and tool"
        ),
        "roles": Key(Named(Items(Text(), 0)), "the scopes of each role"),
        "tools": Key(
            Choice(tuple(Listing)),
            "what the gateway lists: all tools, or a few that find and call the others",
            default=str(Listing.ALL),
        ),
        "pin": Key(
            Items(Text()),
            "tools that are always listed, by their names in the gateway (SERVER__TOOL) or globs",
        ),
        "forward_meta": Key(
            Items(Text(), 0),
            "keys of _meta to forward to servers, bound to the approval; other keys are dropped",
        ),
        "off": Key(
            Table(
                {
                    "servers": Key(Items(Text(), 0), "servers that are switched off"),
                    "subjects": Key(Items(Text(), 0), "callers that are switched off"),
                }
            ),
            "servers and callers that are switched off, in every mode",
        ),
        "limits": Key(
            Table(
                {
                    "calls_per_minute": Key(
                        Either(
                            _COUNT,
                            Table(
                                {level: Key(_COUNT, f"{level} calls") for level in Level}, least=1
                            ),
                            dict,
                        ),
                        "calls of one principal, all together or by level",
                    ),
                    "targets": Key(_COUNT, "how many things one call may change"),
                }
            ),
            "calls beyond these limits are denied",
        ),
        "approvals": Key(
            Table(
                {
                    "channels": Key(
                        Items(Choice(CHANNELS)), "the channels over which people may answer"
                    ),
                    "people": Key(
                        Named(Items(Text(), 0)), "who may answer by a link, with their roles"
                    ),
                    "open_per_caller": Key(
                        _COUNT,
                        "how many questions of one caller may wait at once; more are refused",
                        default=MAX_OPEN_QUESTIONS,
                    ),
                },
                least=1,
            ),
            "how people answer",
        ),
        "audit": Key(
            Table(
                {
                    "hidden": Key(
                        Items(Text()), "paths of arguments that the log masks, such as $..iban"
                    )
                },
                least=1,
            ),
            "what the log masks",
        ),
        "rules": Key(Items(_RULE, 0), "the rules: deny wins, then confirm, then allow"),
    },
    "The policy of sayso: which calls run, which ask a person, and which are denied.",
)


def json_schema() -> dict[str, Any]:
    """Return the format of policy.toml as a JSON Schema (2020-12)."""
    return {"$schema": SCHEMA_DIALECT, "title": "policy.toml", **POLICY.schema()}
