import pytest

from sayso.errors import UncontainedError
from sayso.sandbox import probe
from sayso.sandbox.probe import check_layers, probe_layers
from sayso.sandbox.programs import Programs, find_programs
from sayso.sandbox.spec import CONTAINING, Layer


async def test_each_layer_is_tried_once_and_named() -> None:
    found = await probe_layers()

    assert {one.name for one in found} == CONTAINING | {"filter", "limits", "overlay", "syscalls"}
    assert all(one.detail for one in found)
    assert await probe_layers() is found


async def test_a_program_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "_probed", [])
    monkeypatch.setattr(probe, "find_programs", Programs)
    found = await probe_layers()

    assert {one.detail for one in found} == {"bwrap is not installed"}
    with pytest.raises(UncontainedError, match=r"network \(bwrap is not installed\)") as caught:
        check_layers(found)
    assert "apt-get install bubblewrap" in str(caught.value)
    assert "--uncontained" in str(caught.value)
    check_layers(found, is_uncontained=True)


async def test_a_layer_that_fails_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    if not find_programs().bwrap:
        pytest.skip("needs bubblewrap")
    monkeypatch.setattr(probe, "_probed", [])
    monkeypatch.setattr(probe.bubblewrap, "NETWORK_APART", ("--no-such-option",))
    found = {one.name: one for one in await probe_layers()}

    assert not found["network"].is_active
    assert "no-such-option" in found["network"].detail
    with pytest.raises(UncontainedError, match="network"):
        check_layers(tuple(found.values()))


def test_a_layer_that_was_not_tried_counts_as_missing() -> None:
    with pytest.raises(UncontainedError, match=r"users \(not tried\)"):
        check_layers([Layer(name, is_active=True) for name in CONTAINING - {"users"}])


def test_an_error_of_containment_ends_with_its_own_code() -> None:
    with pytest.raises(UncontainedError) as caught:
        check_layers([])

    assert (caught.value.code, caught.value.exit_code) == ("uncontained", 2)
