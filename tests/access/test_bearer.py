"""Tokens of an authorization server: who comes in, who does not, and what each is told."""

import json
import logging
import time
from typing import Any

import anyio
import pytest
from starlette.responses import JSONResponse, Response
from tests.access import authority as parts
from tests.access.authority import (
    GATEWAY,
    REDIRECT,
    RESOURCE,
    Authority,
    confused,
    sign_apart,
    signed,
    unsigned,
)
from tests.access.conftest import Opened, request_info

from sayso.access import Access, RefusedError, RequestInfo, UnfitError, verifiers
from sayso.access.keyset import Key
from sayso.access.token import Header, read_header
from sayso.access.token_cache import TokenCache
from sayso.connect.credentials import Wallet
from sayso.policy import Principal

pytestmark = pytest.mark.anyio

AMY = Principal(
    "amy", client="chat", scopes=frozenset({"crm.read", "crm.write"}), roles=frozenset({"staff"})
)
NARROW = '[oauth]\nissuer = "{issuer}"\n'


RS256 = {"alg": "RS256", "kid": "rsa-1"}


async def refusal(access: Access, request: RequestInfo) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        await access.identify(request)
    return caught.value


@pytest.mark.filterwarnings("ignore:EdDSA is deprecated")
@pytest.mark.parametrize(
    ("key", "alg"),
    [
        (parts.RSA, "RS256"),
        (parts.RSA, "RS384"),
        (parts.RSA, "RS512"),
        (parts.RSA, "PS256"),
        (parts.RSA, "PS384"),
        (parts.RSA, "PS512"),
        (parts.EC, "ES256"),
        (parts.ED, "Ed25519"),
        (parts.EC_384, "ES384"),
        (parts.EC_521, "ES512"),
        (parts.ED, "EdDSA"),
    ],
)
async def test_a_sound_token_says_who_calls(
    authority: Authority, opened: Opened, key: Any, alg: str
) -> None:
    async with opened() as access:
        assert await access.identify(request_info(authority.sign(key, alg))) == AMY
        apart = sign_apart(key, alg, authority.claims())
        assert await access.identify(request_info(apart)) == AMY
        assert AMY.is_known


async def test_without_a_token_one_learns_how_to_get_one(
    authority: Authority, opened: Opened
) -> None:
    async with opened() as access:
        told = await refusal(access, request_info())
        assert told.status == 401
        where = f"{GATEWAY}/.well-known/oauth-protected-resource/mcp"
        assert told.www_authenticate == f'Bearer resource_metadata="{where}"'
        assert (
            dict(told.headers)[b"www-authenticate"]
            == f'Bearer resource_metadata="{where}"'.encode()
        )
        assert json.loads(told.body) == {"error": "Authenticate to call this."}
        assert access.metadata("/mcp") == {
            "resource": RESOURCE,
            "authorization_servers": [authority.base],
            "bearer_methods_supported": ["header"],
            "resource_name": "sayso",
        }
        basic = await refusal(access, request_info("YTpi", scheme="Basic"))
        assert basic.www_authenticate == told.www_authenticate


def wrong(authority: Authority) -> dict[str, tuple[str, str]]:
    """Each attack: the token, and what it is told."""
    now = int(time.time())
    sign, claims = authority.sign, authority.claims
    forged = sign(parts.STRANGER)
    head, body, _ = sign().split(".")
    other_body = sign(sub="bo").split(".")[1]
    invalid = "The token is not valid here."
    unknown = "The token was signed with an unknown key."
    return {
        "another audience": (sign(aud="https://other.example/mcp"), "another resource"),
        "an audience that begins alike": (sign(aud=f"{RESOURCE}2"), "another resource"),
        "a parent of the audience": (sign(aud=GATEWAY), "another resource"),
        "no audience": (sign(aud=None), "another resource"),
        "an audience that is no text": (sign(aud=7), "an invalid list"),
        "another issuer": (sign(iss="https://evil.example"), "another issuer"),
        "no issuer": (sign(iss=None), "another issuer"),
        "an issuer that is a list": (sign(iss=[authority.base]), "another issuer"),
        "expired": (sign(exp=now - 60), "has expired"),
        "no end": (sign(exp=None), "has expired"),
        "an end that is a text": (sign(exp=str(now + 60)), "an invalid time"),
        "an end that is true": (sign(exp=True), "an invalid time"),
        "not valid yet": (sign(nbf=now + 120), "not valid yet"),
        "issued tomorrow": (sign(iat=now + 86_400), "not valid yet"),
        "nobody": (sign(sub=None), "has no subject"),
        "an empty name": (sign(sub=""), "an invalid name"),
        "a name that is a number": (sign(sub=7), "an invalid name"),
        "a name too long": (sign(sub="a" * 256), "an invalid name"),
        "a name that hides something": (sign(sub="am\u202ey"), "hidden characters"),
        "this machine's user": (sign(sub="local"), "reserved name"),
        "an API key's name": (sign(sub="key:ci"), "reserved name"),
        "scopes that are a number": (sign(scope=7), "an invalid list"),
        "roles that are an object": (sign(roles={"admin": True}), "an invalid list"),
        "bound to a key": (sign(cnf={"jkt": "x"}), "bound to a key"),
        "no algorithm": (unsigned(claims(), alg="none", typ="at+jwt"), invalid),
        "no algorithm, in capitals": (unsigned(claims(), alg="NONE", kid="rsa-1"), invalid),
        "an algorithm that is a list": (unsigned(claims(), alg=["RS256"], kid="rsa-1"), invalid),
        "an empty header": (unsigned(claims()), invalid),
        "the public key as a secret": (confused(claims()), invalid),
        "a key of the same name": (forged, invalid),
        "another's claims": (f"{head}.{other_body}.{forged.split('.')[2]}", invalid),
        "no signature": (f"{head}.{body}.AA", invalid),
        "an algorithm of another kind": (unsigned(claims(), alg="ES256", kid="rsa-1"), unknown),
        "a curve of another": (unsigned(claims(), alg="ES384", kid="ec-1"), unknown),
        "an unknown key": (sign(header={"kid": "other"}), unknown),
        "a key's name that is none": (unsigned(claims(), alg="RS256", kid=7), invalid),
        "a key's name too long": (sign(header={"kid": "k" * 201}), invalid),
        "something critical": (signed(claims(), **RS256, crit=["exp"], exp=now + 60), invalid),
        "something critical that libraries know": (
            signed(claims(), **RS256, crit=["b64"], b64=True), invalid,
        ),
        "claims that are not encoded": (signed(claims(), **RS256, b64=False), invalid),
        "something critical that is empty": (signed(claims(), **RS256, crit=[]), invalid),
        "an ID token's type": (sign(header={"typ": "logout+jwt"}), "another type"),
        "a type that is a number": (unsigned(claims(), alg="RS256", typ=1), "another type"),
        "a header of one letter": ("a.b.c", invalid),
        "claims that are no object": (authority.sign_text(b"[1]"), invalid),
        "claims that are no JSON": (authority.sign_text(b"amy"), invalid),
        "claims that say a thing twice": (authority.sign_text(b'{"a": 1, "a": 2}'), invalid),
        "two parts": (f"{head}.{body}", invalid),
        "not a token": ("hunter2", invalid),
        "claims that are a list": (f"{head}.W10.AA", invalid),
    }  # fmt: skip


WRONG = sorted(wrong(Authority(base="https://login.example")))


@pytest.mark.parametrize("name", WRONG)
async def test_a_token_that_is_not_for_here_is_refused(
    authority: Authority, opened: Opened, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    token, told = wrong(authority)[name]
    async with opened() as access:
        refused = await refusal(access, request_info(token))
    assert refused.status == 401
    assert told in refused.sentence
    assert refused.www_authenticate is not None
    assert refused.www_authenticate.startswith('Bearer error="invalid_token", error_description="')
    assert "resource_metadata=" in refused.www_authenticate
    said = f"{refused.www_authenticate} {refused.body} {caplog.text}"
    assert not [part for part in token.split(".") if len(part) > 8 and part in said]
    context: BaseException | None = refused
    while context is not None:
        assert not isinstance(context, KeyError | ValueError)
        context = context.__cause__


async def test_keys_that_a_token_brings_along_are_not_looked_at(
    authority: Authority, opened: Opened
) -> None:
    stranger = parts.STRANGER
    public = stranger.as_dict(private=False)
    there = f"{authority.base}/stranger"
    async with opened() as access:
        for header in ({"jwk": public}, {"jku": there}, {"x5u": there}, {"x5c": ["AAAA"]}):
            for kid in ("rsa-1", None, "other"):
                token = authority.sign(stranger, header={**header, "kid": kid})
                assert (await refusal(access, request_info(token))).status == 401
    assert "/stranger" not in authority.hits


@pytest.mark.parametrize(
    ("scope", "scp", "expected"),
    [
        ("a b", None, {"a", "b"}),
        ("a  b ", "c", {"a", "b"}),
        (["a", "b"], None, {"a", "b"}),
        (None, "a b", {"a", "b"}),
        (None, ["a", "b"], {"a", "b"}),
        (None, None, set()),
        ("", None, set()),
    ],
)
async def test_scopes_are_read_as_issuers_write_them(
    authority: Authority, opened: Opened, scope: Any, scp: Any, expected: set[str]
) -> None:
    async with opened() as access:
        found = await access.identify(request_info(authority.sign(scope=scope, scp=scp)))
    assert found.scopes == expected


async def test_roles_and_client_are_read_where_issuers_put_them(
    authority: Authority, opened: Opened
) -> None:
    text = f'{NARROW}roles = "realm_access.roles"\n'
    async with opened(text) as access:
        nested = authority.sign(realm_access={"roles": ["lead"]}, client_id=None, azp="web")
        found = await access.identify(request_info(nested))
        assert (found.roles, found.client) == ({"lead"}, "web")
        changes: dict[str, Any] = {"realm_access.roles": "one role", "client_id": None}
        flat = authority.sign(**changes)
        found = await access.identify(request_info(flat))
        assert (found.roles, found.client) == ({"one role"}, "unknown")
        odd = authority.sign(realm_access=["lead"])
        assert (await access.identify(request_info(odd))).roles == frozenset()


async def test_a_scope_that_all_need_is_asked_for(authority: Authority, opened: Opened) -> None:
    async with opened(f'{NARROW}scopes = ["mcp", "crm.read"]\n') as access:
        told = await refusal(access, request_info(authority.sign()))
        assert told.status == 403
        assert told.www_authenticate is not None
        assert 'error="insufficient_scope"' in told.www_authenticate
        assert told.www_authenticate.endswith('scope="crm.read mcp"')
        assert await access.identify(request_info(authority.sign(scope="mcp crm.read")))
        metadata = access.metadata("/mcp") or {}
        assert metadata["scopes_supported"] == ["crm.read", "mcp"]


async def test_a_token_for_one_server_does_not_open_the_others(
    authority: Authority, opened: Opened
) -> None:
    one = authority.sign(aud=[f"{GATEWAY}/servers/crm/mcp", "https://other.example"])
    async with opened() as access:
        assert await access.identify(request_info(one, path="/servers/crm/mcp"))
        for path in ("/mcp", "/servers/mail/mcp"):
            assert (await refusal(access, request_info(one, path=path))).status == 401
        assert await access.identify(request_info(authority.sign(), path="/servers/mail/mcp"))
        metadata = access.metadata("/servers/crm/mcp") or {}
        assert metadata["resource"] == f"{GATEWAY}/servers/crm/mcp"


@pytest.mark.parametrize("path", ['/servers/a"b/mcp', "/servers/é/mcp", "/servers/../mcp\r\nx: y"])
async def test_nothing_of_a_strange_path_is_told_back(
    authority: Authority, opened: Opened, path: str
) -> None:
    assert authority
    async with opened() as access:
        told = await refusal(access, request_info(path=path))
        assert (told.www_authenticate or "").endswith('oauth-protected-resource/mcp"')
        assert (access.metadata(path) or {})["resource"] == RESOURCE


async def test_an_audience_may_be_any_text_that_the_issuer_knows(
    authority: Authority, opened: Opened
) -> None:
    async with opened(f'{NARROW}audience = "api://sayso"\n') as access:
        assert await access.identify(request_info(authority.sign(aud="api://sayso")))
        assert (await refusal(access, request_info(authority.sign()))).status == 401


async def test_the_type_of_a_token_may_be_held_to_one(authority: Authority, opened: Opened) -> None:
    kinds = ("at+jwt", "application/AT+JWT", "JWT", None)
    tokens = [authority.sign(header={"typ": one}) for one in kinds]
    async with opened() as access:
        assert [await access.identify(request_info(one)) for one in tokens] == [AMY] * 4
    async with opened(f'{NARROW}typ = "at+jwt"\n') as access:
        assert [await access.identify(request_info(one)) for one in tokens[:2]] == [AMY] * 2
        for one in tokens[2:]:
            assert "another type" in (await refusal(access, request_info(one))).sentence


@pytest.mark.parametrize("kind", ["JWT", "at+jwt", None])
async def test_no_token_is_of_an_empty_type(authority: Authority, kind: str | None) -> None:
    token = authority.sign(header={"typ": kind})
    with pytest.raises(UnfitError, match="another type"):
        read_header(token, {"RS256"}, "")


async def test_only_the_algorithms_that_are_named_sign(
    authority: Authority, opened: Opened
) -> None:
    async with opened(f'{NARROW}algorithms = ["ES256"]\n') as access:
        assert await access.identify(request_info(authority.sign(parts.EC, "ES256")))
        assert (await refusal(access, request_info(authority.sign()))).status == 401


async def test_clocks_may_be_a_little_apart(authority: Authority, opened: Opened) -> None:
    now = int(time.time())
    async with opened(f'{NARROW}leeway = "1m"\n') as access:
        assert await access.identify(request_info(authority.sign(exp=now - 30)))
        assert await access.identify(request_info(authority.sign(nbf=now + 30, iat=now + 30)))
        assert (await refusal(access, request_info(authority.sign(exp=now - 90)))).status == 401


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        (request_info(query=b"access_token=abc"), "in the URL"),
        (request_info("abc", query=b"x=1&access%5Ftoken=abc"), "in the URL"),
        (
            RequestInfo([(b"authorization", b"Bearer a"), (b"Authorization", b"Bearer b")]),
            "more than",
        ),
        (request_info("t\xf6ken"), "malformed"),
        (request_info("two words"), "malformed"),
        (request_info(""), "malformed"),
        (request_info("a" * 16_385), "too large"),
    ],
)
async def test_what_is_no_one_token_is_a_bad_request(
    authority: Authority, opened: Opened, request_: RequestInfo, told: str
) -> None:
    assert authority
    async with opened() as access:
        refused = await refusal(access, request_)
    assert (refused.status, told in refused.sentence) == (400, True)
    assert 'error="invalid_request"' in (refused.www_authenticate or "")
    assert authority.hits == {}


async def test_a_token_is_looked_at_once_however_many_bring_it(
    authority: Authority, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    read = verifiers.read_signed

    def look(token: str, header: Header, key: Key) -> Any:
        looked.append(token)
        return read(token, header, key)

    monkeypatch.setattr(verifiers, "read_signed", look)
    token = authority.sign()
    async with opened() as access, anyio.create_task_group() as group:
        for _ in range(64):
            group.start_soon(access.identify, request_info(token))
    assert looked == [token]
    assert authority.hits["/jwks"] == 1


async def test_a_token_ends_while_it_is_remembered(
    authority: Authority, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = authority.sign()
    async with opened() as access:
        assert await access.identify(request_info(token))
        later = time.time() + 331
        monkeypatch.setattr(access, "now", lambda: later)
        assert "has expired" in (await refusal(access, request_info(token))).sentence


async def test_metadata_is_found_where_issuers_have_it(
    authority: Authority, opened: Opened
) -> None:
    for path in ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"):
        authority.metadata_paths = (path,)
        async with opened() as access:
            assert await access.identify(request_info(authority.sign()))
    issuer = f"{authority.base}/realms/crm"
    authority.metadata["issuer"] = issuer
    for path in (
        "/.well-known/oauth-authorization-server/realms/crm",
        "/.well-known/openid-configuration/realms/crm",
        "/realms/crm/.well-known/openid-configuration",
    ):
        authority.metadata_paths = (path,)
        async with opened('[oauth]\nissuer = "{issuer}/realms/crm"\n') as access:
            assert await access.identify(request_info(authority.sign(iss=issuer)))


async def test_without_discovery_the_keys_are_where_they_are_said_to_be(
    authority: Authority, opened: Opened
) -> None:
    async with opened(f'{NARROW}jwks_url = "{{issuer}}/jwks"\n') as access:
        assert await access.identify(request_info(authority.sign()))
    assert set(authority.hits) == {"/jwks"}


UNSOUND: dict[str, tuple[dict[str, Any], dict[str, Response]]] = {
    "metadata of another issuer": ({"issuer": "https://evil.example"}, {}),
    "keys in the clear": ({"jwks_uri": "http://evil.example/jwks"}, {}),
    "keys nowhere": ({"jwks_uri": 7}, {}),
    "keys that are elsewhere": ({}, {"/jwks": REDIRECT}),
    "keys that are a page": ({}, {"/jwks": Response("<html>", 200)}),
    "keys that are no set": ({}, {"/jwks": JSONResponse({"keys": "none"})}),
    "keys that never end": ({}, {"/jwks": Response(b" " * 600_000, 200)}),
    "keys that are an error": ({}, {"/jwks": JSONResponse({"error": "x"}, 500)}),
    "no metadata": ({}, {"/.well-known/oauth-authorization-server": Response(status_code=404)}),
}


@pytest.mark.parametrize("name", sorted(UNSOUND))
async def test_an_issuer_that_cannot_be_believed_lets_nobody_in(
    authority: Authority, opened: Opened, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    metadata, failing = UNSOUND[name]
    authority.metadata.update(metadata)
    authority.failing.update(failing)
    token = authority.sign()
    async with opened() as access:
        refused = await refusal(access, request_info(token))
    assert (refused.status, refused.www_authenticate) == (503, None)
    assert (b"retry-after", b"5") in refused.headers
    assert "tokens cannot be verified" in caplog.text
    assert token.split(".")[1] not in caplog.text


async def test_a_token_is_kept_only_where_it_is_to_be_exchanged(
    authority: Authority, opened: Opened
) -> None:
    wallet, token = Wallet(), authority.sign()
    async with opened(wallet=wallet) as access:
        amy = await access.identify(request_info(token))
        assert wallet.get(amy) == token
        with pytest.raises(RefusedError):
            await access.identify(
                request_info(authority.sign(sub="bo", aud="https://other.example"))
            )
        assert wallet.get(Principal("bo")) is None
    assert token not in repr(wallet)


def test_what_is_remembered_is_bounded_and_holds_no_token() -> None:
    now = [0.0]
    recent = TokenCache[int](lambda: now[0], limit=2)
    for index, token in enumerate(("one", "two", "three")):
        recent.put(token, index, seconds=10.0)
    assert [recent.get(token) for token in ("one", "two", "three")] == [None, 1, 2]
    now[0] = 10.0
    assert recent.get("two") is None
    assert "three" not in repr(recent)


async def test_a_header_that_says_no_more_than_it_must_is_enough(
    authority: Authority, opened: Opened
) -> None:
    async with opened() as access:
        assert await access.identify(request_info(signed(authority.claims(), **RS256))) == AMY
