"""Targets (commands, URLs, saved lists), and connections to servers in both protocol eras."""

from typing import TYPE_CHECKING

from sayso.connect.message import (
    Id,
    Message,
    in_one_line,
    read_message,
    read_object,
    write_error,
    write_notification,
    write_request,
    write_result,
)
from sayso.connect.rpc import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    NO_ANSWER,
    PARSE_ERROR,
    RESOURCE_NOT_FOUND,
    UNSUPPORTED_VERSION,
    Fault,
    RpcError,
)
from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.connect.address import fault_of_url, is_loopback, is_private
    from sayso.connect.config import lines_of_servers, read_target
    from sayso.connect.credentials import Credentials, OnBehalf, Wallet, credentials_for, open_proof
    from sayso.connect.entry import nearest
    from sayso.connect.envelope import HANDSHAKE_VERSIONS, LATEST_HANDSHAKE, MODERN, Envelope
    from sayso.connect.environment import child_environment
    from sayso.connect.failure import first_error
    from sayso.connect.fetch import ClientAuth, Fetcher, Reply, open_fetcher
    from sayso.connect.header_parameters import header_mismatch
    from sayso.connect.inbox import CANCELLED
    from sayso.connect.kinds import (
        CommandTarget,
        SavedTarget,
        Target,
        UrlTarget,
        origin_of,
        place_of,
    )
    from sayso.connect.link import CLIENT_INFO, Link, open_link
    from sayso.connect.listing import LISTS, Listed, list_all, read_list
    from sayso.connect.naming import plain_name
    from sayso.connect.negotiate import Greeting
    from sayso.connect.package import describe_installed, describe_package
    from sayso.connect.post import post_json
    from sayso.connect.refreshing_cache import Fetched, RefreshingCache
    from sayso.connect.request_listener import MOST_QUESTIONS, RequestListener
    from sayso.connect.saved import read_saved, steps_to_tools
    from sayso.connect.startup import BYTECODE, NO_FOREIGN_BYTECODE, steering
    from sayso.connect.stderr_log import NO_CLIENT_TO_ASK
    from sayso.connect.target import parse_target
    from sayso.connect.variables import Scope
    from sayso.connect.watch import Exchange, Watch
    from sayso.connect.web.authenticator import Authenticator


__all__ = [
    "BYTECODE",
    "CANCELLED",
    "CLIENT_INFO",
    "HANDSHAKE_VERSIONS",
    "HEADER_MISMATCH",
    "INTERNAL_ERROR",
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "LATEST_HANDSHAKE",
    "LISTS",
    "METHOD_NOT_FOUND",
    "MISSING_CAPABILITY",
    "MODERN",
    "MOST_QUESTIONS",
    "NO_ANSWER",
    "NO_CLIENT_TO_ASK",
    "NO_FOREIGN_BYTECODE",
    "PARSE_ERROR",
    "RESOURCE_NOT_FOUND",
    "UNSUPPORTED_VERSION",
    "Authenticator",
    "ClientAuth",
    "CommandTarget",
    "Credentials",
    "Envelope",
    "Exchange",
    "Fault",
    "Fetched",
    "Fetcher",
    "Greeting",
    "Id",
    "Link",
    "Listed",
    "Message",
    "OnBehalf",
    "RefreshingCache",
    "Reply",
    "RequestListener",
    "RpcError",
    "SavedTarget",
    "Scope",
    "Target",
    "UrlTarget",
    "Wallet",
    "Watch",
    "child_environment",
    "credentials_for",
    "describe_installed",
    "describe_package",
    "fault_of_url",
    "first_error",
    "header_mismatch",
    "in_one_line",
    "is_loopback",
    "is_private",
    "lines_of_servers",
    "list_all",
    "nearest",
    "open_fetcher",
    "open_link",
    "open_proof",
    "origin_of",
    "parse_target",
    "place_of",
    "plain_name",
    "post_json",
    "read_list",
    "read_message",
    "read_object",
    "read_saved",
    "read_target",
    "steering",
    "steps_to_tools",
    "write_error",
    "write_notification",
    "write_request",
    "write_result",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.connect.address": ("fault_of_url", "is_loopback", "is_private"),
        "sayso.connect.config": ("lines_of_servers", "read_target"),
        "sayso.connect.credentials": (
            "Credentials",
            "OnBehalf",
            "Wallet",
            "credentials_for",
            "open_proof",
        ),
        "sayso.connect.entry": ("nearest",),
        "sayso.connect.envelope": ("Envelope", "HANDSHAKE_VERSIONS", "LATEST_HANDSHAKE", "MODERN"),
        "sayso.connect.environment": ("child_environment",),
        "sayso.connect.failure": ("first_error",),
        "sayso.connect.fetch": ("ClientAuth", "Fetcher", "Reply", "open_fetcher"),
        "sayso.connect.header_parameters": ("header_mismatch",),
        "sayso.connect.inbox": ("CANCELLED",),
        "sayso.connect.kinds": (
            "CommandTarget",
            "SavedTarget",
            "Target",
            "UrlTarget",
            "origin_of",
            "place_of",
        ),
        "sayso.connect.link": ("CLIENT_INFO", "Link", "open_link"),
        "sayso.connect.listing": ("LISTS", "Listed", "list_all", "read_list"),
        "sayso.connect.naming": ("plain_name",),
        "sayso.connect.negotiate": ("Greeting",),
        "sayso.connect.package": ("describe_installed", "describe_package"),
        "sayso.connect.post": ("post_json",),
        "sayso.connect.refreshing_cache": ("Fetched", "RefreshingCache"),
        "sayso.connect.request_listener": ("RequestListener", "MOST_QUESTIONS"),
        "sayso.connect.saved": ("read_saved", "steps_to_tools"),
        "sayso.connect.startup": ("BYTECODE", "NO_FOREIGN_BYTECODE", "steering"),
        "sayso.connect.stderr_log": ("NO_CLIENT_TO_ASK",),
        "sayso.connect.target": ("parse_target",),
        "sayso.connect.variables": ("Scope",),
        "sayso.connect.watch": ("Exchange", "Watch"),
        "sayso.connect.web.authenticator": ("Authenticator",),
    },
)
