"""The two servers of each source of an instance: their transactions, and which of them is read."""

from typing import Final

from fastapi import APIRouter

from api.deps import AdminDep, SentNoteDep
from api.models.failover import AcceptLossRequest, FailoverAnswer, SourceRequest, SwitchRequest

router: Final = APIRouter(prefix="/api/v1/instances/{name}/failover", tags=["failover"])

_NO_SOURCE: Final = SourceRequest()


@router.get("")
def read_failover(admin: AdminDep, name: str) -> FailoverAnswer:
    """Return both servers with their executed and lacking transactions, the present orders, and
    past switches.
    """
    return admin.failover.show(name)


@router.post("/switch", status_code=202)
def order_switch(
    admin: AdminDep, name: str, request: SwitchRequest, note: SentNoteDep
) -> FailoverAnswer:
    """Order a switch: it happens when the server has all that was published.

    Until then the other one is read on if it answers.
    """
    return admin.failover.switch(name, request.source, request.to, note)


@router.post("/hold")
def order_hold(
    admin: AdminDep, name: str, note: SentNoteDep, request: SourceRequest = _NO_SOURCE
) -> FailoverAnswer:
    """Prevent switches by failed heartbeats until `release`; an ordered switch is still
    executed.
    """
    return admin.failover.hold(name, request.source, note)


@router.post("/release")
def order_release(
    admin: AdminDep, name: str, note: SentNoteDep, request: SourceRequest = _NO_SOURCE
) -> FailoverAnswer:
    """Take back a hold, a switch that is not done yet, and accepted losses that were not used."""
    return admin.failover.release(name, request.source, note)


@router.post("/accept-loss", status_code=202)
def order_accept_loss(
    admin: AdminDep, name: str, request: AcceptLossRequest, note: SentNoteDep
) -> FailoverAnswer:
    """Let the next switch continue without the named transactions.

    Author, time and the lost transactions are kept permanently.
    """
    return admin.failover.accept_loss(name, request.source, request.gtids, note)
