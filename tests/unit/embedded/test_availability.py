"""A missing server is told loudly, and fails the run where CI is set."""

from typing import ClassVar

import pytest

from deploy.embedded import MySQL, Unavailable
from tests.servers import availability
from tests.unit.embedded.test_process import Listener


class Missing(Listener):
    name: ClassVar[str] = "missing"
    asked: ClassVar[int] = 0

    @classmethod
    def fetch(cls) -> str:
        cls.asked += 1
        raise Unavailable("The moon is not on this machine.", "Fetch it.")


class MissingMySQL(Missing):
    name: ClassVar[str] = MySQL.name


@pytest.fixture(autouse=True)
def _nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(availability, "_found", {})
    monkeypatch.setattr(availability, "_missing", {})
    monkeypatch.delenv("CI", raising=False)


def test_without_ci_the_test_is_skipped_with_the_remedy_and_the_registry_asked_once() -> None:
    Missing.asked = 0
    for _ in range(2):
        with pytest.raises(
            pytest.skip.Exception, match=r"The moon is not on this machine\. Fetch it\."
        ):
            availability.require(Missing)
    assert Missing.asked == 1
    assert availability.report() == [
        "WARNING: missing WAS NOT TESTED: The moon is not on this machine. Fetch it."
    ]


def test_in_ci_absence_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="The moon"):
        availability.require(Missing)


def test_in_ci_only_mysql_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.skip.Exception):
        availability.require(MissingMySQL)
    assert "WAS NOT TESTED" in availability.report()[0]


def test_a_server_that_is_here_is_reported_with_its_version() -> None:
    availability.require(Listener)
    assert availability.report() == ["listener: listener"]
