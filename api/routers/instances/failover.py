"""Endpoints for the two servers of each source of an instance: state, and operators' orders."""

from typing import Final

from fastapi import APIRouter

from api.deps import AdminDep, SentNoteDep
from api.models.failover import AcceptLossRequest, FailoverAnswer, SourceRequest, SwitchRequest

router: Final = APIRouter(prefix="/api/v1/instances/{name}/failover", tags=["failover"])

_NO_SOURCE: Final = SourceRequest()


@router.get("")
def read_failover(admin: AdminDep, name: str) -> FailoverAnswer:
    """Return both servers with their executed and lacking transactions, the operators' orders, and
    the completed switches.
    """
    return admin.failover.show(name)


@router.post("/switch", status_code=202)
def order_switch(
    admin: AdminDep, name: str, request: SwitchRequest, note: SentNoteDep
) -> FailoverAnswer:
    """Order a switch to another server. The relay switches when that server has every published
    transaction.

    Until then, the relay continues to read the present server if that server answers.
    """
    return admin.failover.switch(name, request.source, request.to, note)


@router.post("/hold")
def order_hold(
    admin: AdminDep, name: str, note: SentNoteDep, request: SourceRequest = _NO_SOURCE
) -> FailoverAnswer:
    """Prevent switches because of failed heartbeats, until `release`. Ordered switches still
    happen.
    """
    return admin.failover.hold(name, request.source, note)


@router.post("/release")
def order_release(
    admin: AdminDep, name: str, note: SentNoteDep, request: SourceRequest = _NO_SOURCE
) -> FailoverAnswer:
    """Withdraw a hold, a switch that has not happened yet, and accepted losses that were not
    used.
    """
    return admin.failover.release(name, request.source, note)


@router.post("/accept-loss", status_code=202)
def order_accept_loss(
    admin: AdminDep, name: str, request: AcceptLossRequest, note: SentNoteDep
) -> FailoverAnswer:
    """Allow the next switch to continue without the named transactions.

    Author, time and the lost transactions are stored permanently.
    """
    return admin.failover.accept_loss(name, request.source, request.gtids, note)
