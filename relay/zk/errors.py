"""The border to kazoo: the one place where its exceptions become the relay's."""

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

# After any of these nobody knows whether the server has carried out the request.
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
    """Turn kazoo's exceptions into StoreUnreachable, VersionConflict, NodeMissing or StoreRefused.

    `what` names the path.
    """
    try:
        yield
    except _NO_ANSWER as exc:
        raise StoreUnreachable(
            f"ZooKeeper did not answer for {what} ({_name(exc)}); a write under way may or may "
            f"not have been carried out."
        ) from exc
    except (BadVersionError, NodeExistsError) as exc:
        raise VersionConflict(f"Somebody else changed {what} first.") from exc
    except NoNodeError as exc:
        raise NodeMissing(f"ZooKeeper has no {what}.") from exc
    except AuthFailedError as exc:
        raise StoreLoginRefused(
            f"ZooKeeper refused the login, so {what} was not asked for."
        ) from exc
    except (NoAuthError, InvalidACLError) as exc:
        raise StoreNotPermitted(
            f"The access rights of ZooKeeper do not let this login use {what} ({_name(exc)})."
        ) from exc
    except KazooException as exc:
        raise StoreRefused(f"ZooKeeper refused the request for {what} ({_name(exc)}).") from exc


def raise_failure(paths: Sequence[str], answers: Sequence[object]) -> None:
    """Raise what the failed step of a transaction would have raised alone.

    Return if every step succeeded.
    """
    for path, answer in zip(paths, answers, strict=True):
        # These two only say that another step failed.
        if isinstance(answer, Exception) and not isinstance(
            answer, RolledBackError | RuntimeInconsistency
        ):
            with translated(path):
                raise answer


def _name(exc: Exception) -> str:
    return type(exc).__name__
