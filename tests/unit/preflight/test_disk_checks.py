"""What preflight says of the spool's folder and of the place for claims."""

from pathlib import Path
from typing import Any

from relay.preflight import Finding, Verdict
from relay.preflight.disk_checks import check_disks
from relay.settings import InstanceSettings

SOURCE = {"host": "localhost", "user": "relay", "server_id": 9001}


def findings(**settings: Any) -> list[Finding]:
    return check_disks(
        InstanceSettings.model_validate({"name": "shop", "source": SOURCE, **settings}), "roma"
    )


def spool(directory: Path, limit_bytes: int = 16_000_000) -> list[Finding]:
    return findings(spool="mixed", spooling={"directory": directory, "limit_bytes": limit_bytes})


def test_an_instance_that_names_neither_is_not_asked() -> None:
    assert findings() == []
    assert findings(spooling={"directory": "/nowhere"}, claims={"url": "/nowhere"}) == []


def test_a_folder_that_can_be_made_is_enough_and_is_not_made(tmp_path: Path) -> None:
    (found,) = spool(tmp_path / "a" / "spool")
    assert (found.check, found.verdict, found.instance) == ("spool", Verdict.PASSED, "shop")
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_way_fails_and_too_little_room_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (found,) = spool(tmp_path / "file")
    assert (found.verdict, found.code) == (Verdict.FAILED, "SPOOL_UNUSABLE")
    (found,) = spool(tmp_path, limit_bytes=2**62)
    assert (found.verdict, found.code) == (Verdict.WARNING, "")
    assert "spooling.limit_bytes" in found.sentence


def test_the_place_for_claims_is_looked_at_without_a_trace(tmp_path: Path) -> None:
    (found,) = findings(oversize="claim_check", claims={"url": str(tmp_path / "claims")})
    assert (found.check, found.verdict) == ("claims", Verdict.PASSED)
    assert list(tmp_path.iterdir()) == []


def test_a_place_for_claims_that_cannot_be_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "claims" / "roma"
    folder.mkdir(parents=True)
    (folder / "shop").touch()
    (found,) = findings(oversize="claim_check", claims={"url": str(tmp_path / "claims")})
    assert (found.verdict, found.code) == (Verdict.FAILED, "CLAIM_STORE_REFUSED")
    (found,) = findings(oversize="claim_check", claims={"url": "nothing-known://there"})
    assert (found.verdict, found.code) == (Verdict.FAILED, "CONFIGURATION")
