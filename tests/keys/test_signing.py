"""Keys that sign for others to read."""

import base64
import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from sayso.errors import KeysError
from sayso.keys import is_signed, load_signing_key, make_signing_key


def test_a_key_is_made_for_this_user_alone_and_never_over_another(tmp_path: Path) -> None:
    file = tmp_path / "ci.key"
    key = make_signing_key(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = file.read_bytes()
    with pytest.raises(KeysError, match="the file exists already"):
        make_signing_key(file)
    assert file.read_bytes() == before
    assert load_signing_key(file).public == key.public
    assert "PRIVATE" not in repr(key)


def test_a_link_that_leads_nowhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(KeysError):
        make_signing_key(tmp_path / "link")
    with pytest.raises(KeysError, match="cannot write"):
        make_signing_key(tmp_path / "none" / "ci.key")
    assert not (tmp_path / "elsewhere").exists()


def test_only_what_was_signed_is_signed_and_only_by_this_key(tmp_path: Path) -> None:
    key = make_signing_key(tmp_path / "ci.key")
    signature = key.sign(b"yes")
    assert len(signature) == 64
    assert is_signed(b"yes", public=key.public, signature=signature)
    assert not is_signed(b"no", public=key.public, signature=signature)
    assert not is_signed(b"yes", public=key.public, signature=signature[:-1])
    other = make_signing_key(tmp_path / "other.key")
    assert not is_signed(b"yes", public=other.public, signature=signature)


def test_what_is_no_key_has_signed_nothing(tmp_path: Path) -> None:
    signature = make_signing_key(tmp_path / "ci.key").sign(b"yes")
    nothing = base64.b64encode(bytes(32)).decode()
    # For a point of small order this is a signature of anything, or nearly.
    forged = bytes(64)
    for public in ("", "x", nothing):
        assert not is_signed(b"yes", public=public, signature=signature)
        assert not is_signed(b"yes", public=public, signature=forged)


def test_a_file_that_holds_no_such_key_is_told_without_what_it_holds(tmp_path: Path) -> None:
    file = tmp_path / "ci.key"
    file.touch(0o600)
    other = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    for text, what in ((b"hunter2", "not a private key"), (other, "not an Ed25519")):
        file.write_bytes(text)
        with pytest.raises(KeysError, match=what) as told:
            load_signing_key(file)
        assert "hunter2" not in str(told.value)
    file.chmod(0o640)
    with pytest.raises(KeysError, match="other users may read"):
        load_signing_key(file)
    with pytest.raises(KeysError, match="cannot read"):
        load_signing_key(tmp_path / "none")
