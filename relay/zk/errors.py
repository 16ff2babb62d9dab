"""The only module that translates kazoo's exceptions into the relay's errors."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kazoo.exceptions import (
    AuthFailedError,
    BadVersionError,
    ConnectionDropped,
    ConnectionLoss,
    InvalidACLError,
    KazooException,
    NoAuthError,
    NodeExistsError,
    NoNodeError,
    NotReadOnlyCallError,
    OperationTimeoutError,
    RequestTimeoutError,
    RolledBackError,
    RuntimeInconsistency,
    SessionExpiredError,
    SessionMovedError,
    ThrottledOpError,
    UnknownSessionError,
    WriterNotClosedException,
    ZookeeperStoppedError,
)
from kazoo.handlers.threading import KazooTimeoutError

from relay.errors import (
    NodeMissing,
    StoreLoginRefused,
    StoreNotPermitted,
    StoreRefused,
    StoreUnreachable,
    VersionConflict,
)

# After any of these errors it is unknown whether the server has executed the request.
_NO_ANSWER = (
    ConnectionDropped,
    ConnectionLoss,
    KazooTimeoutError,
    NotReadOnlyCallError,
    OperationTimeoutError,
    RequestTimeoutError,
    SessionExpiredError,
    SessionMovedError,
    ThrottledOpError,
    UnknownSessionError,
    WriterNotClosedException,
    ZookeeperStoppedError,
)


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Context manager: turn kazoo's exceptions into StoreUnreachable, VersionConflict, NodeMissing
    or StoreRefused.

    `what` names the path.
    """
    try:
        yield
    except _NO_ANSWER as exc:
        raise StoreUnreachable(
            f"ZooKeeper did not answer for {what} ({_name(exc)}); a pending write may or may "
            f"not have been executed."
        ) from exc
    except (BadVersionError, NodeExistsError) as exc:
        raise VersionConflict(f"Another process changed {what} first.") from exc
    except NoNodeError as exc:
        raise NodeMissing(f"ZooKeeper has no {what}.") from exc
    except AuthFailedError as exc:
        raise StoreLoginRefused(
            f"ZooKeeper refused the login, so {what} was not requested."
        ) from exc
    except (NoAuthError, InvalidACLError) as exc:
        raise StoreNotPermitted(
            f"The access rights of ZooKeeper do not let this login use {what} ({_name(exc)})."
        ) from exc
    except KazooException as exc:
        raise StoreRefused(f"ZooKeeper refused the request for {what} ({_name(exc)}).") from exc


def raise_failure(paths: Sequence[str], answers: Sequence[object]) -> None:
    """Raise the error of the failed step of a transaction. Return if every step succeeded."""
    for path, answer in zip(paths, answers, strict=True):
        # These two errors only say that another step failed.
        if isinstance(answer, Exception) and not isinstance(
            answer, RolledBackError | RuntimeInconsistency
        ):
            with translated(path):
                raise answer


def _name(exc: Exception) -> str:
    return type(exc).__name__
