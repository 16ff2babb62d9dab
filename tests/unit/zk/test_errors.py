"""Every exception of kazoo becomes one of ours, the most specific."""

import inspect

import kazoo.exceptions
import pytest
from kazoo.exceptions import (
    BadVersionError,
    ConnectionClosedError,
    ConnectionLoss,
    KazooException,
    NodeExistsError,
    NoNodeError,
    RolledBackError,
    RuntimeInconsistency,
    SessionExpiredError,
)
from kazoo.handlers.threading import KazooTimeoutError

from relay.errors import NodeMissing, RelayError, StoreRefused, StoreUnreachable, VersionConflict
from relay.zk.errors import raise_failure, translated


@pytest.mark.parametrize(
    ("foreign", "ours"),
    [
        (NoNodeError(), NodeMissing),
        (BadVersionError(), VersionConflict),
        (NodeExistsError(), VersionConflict),
        (ConnectionLoss(), StoreUnreachable),
        (SessionExpiredError(), StoreUnreachable),
        (ConnectionClosedError(), StoreUnreachable),
        (KazooTimeoutError(), StoreUnreachable),
    ],
)
def test_the_common_ones_have_their_own_meaning(foreign: Exception, ours: type[RelayError]) -> None:
    with pytest.raises(ours, match="/a/path") as caught, translated("/a/path"):
        raise foreign
    assert type(caught.value) is ours
    assert caught.value.__cause__ is foreign


def test_no_exception_of_kazoo_escapes() -> None:
    every = [
        each
        for _, each in inspect.getmembers(kazoo.exceptions, inspect.isclass)
        if issubclass(each, KazooException)
    ]
    assert len(every) > 30
    for foreign in every:
        with pytest.raises(RelayError), translated("/a/path"):
            raise foreign


def test_our_own_errors_and_other_peoples_pass_unchanged() -> None:
    with pytest.raises(ZeroDivisionError), translated("/a/path"):
        raise ZeroDivisionError


def test_a_failed_transaction_raises_what_its_failed_step_would() -> None:
    with pytest.raises(VersionConflict, match="/b"):
        raise_failure(
            ["/a", "/b", "/c"], [RolledBackError(), BadVersionError(), RuntimeInconsistency()]
        )


def test_a_transaction_refused_for_other_reasons_is_named_too() -> None:
    with pytest.raises(StoreRefused, match="/a"):
        raise_failure(["/a"], [kazoo.exceptions.NoAuthError()])


def test_a_transaction_that_succeeded_raises_nothing() -> None:
    raise_failure(["/a", "/b"], ["/a", True])
