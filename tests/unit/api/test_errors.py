"""Every error of the relay has a status; a new one is never answered by chance."""

import asyncio
from http import HTTPStatus

import httpx
import pytest
from fastapi import FastAPI

from api.errors import ApiError, ProblemsFound, install_error_handlers, status_of
from relay.errors import MappingRefused, NodeMissing, RelayError, StoreRefused, StoreUnreachable, VersionConflict
from relay.route import MappingProblem


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (StoreUnreachable("x"), 503),
        (VersionConflict("x"), 412),
        (NodeMissing("x"), 404),
        (MappingRefused("x", data_id="d", pointer=""), 422),
        (StoreRefused("x"), 502),
        (RelayError("x"), 500),
        (ProblemsFound([MappingProblem("d", "", "x")]), 422),
    ],
)
def test_the_table(error: RelayError, status: int) -> None:
    assert status_of(error) == status


def test_every_error_of_the_admin_has_a_code_a_remedy_and_a_status_of_its_own() -> None:
    leaves = ApiError.__subclasses__()
    assert len(leaves) == 11
    assert len({leaf.code for leaf in leaves}) == len(leaves)
    assert all(leaf.status != HTTPStatus.INTERNAL_SERVER_ERROR for leaf in leaves)
    assert all(leaf.remedy != RelayError.remedy for leaf in leaves)


def test_an_error_of_our_own_tells_the_client_nothing_and_has_the_usual_form() -> None:
    app = FastAPI()
    install_error_handlers(app)

    @app.get("/")
    def broken() -> None:
        raise ZeroDivisionError("a secret detail")

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://admin", trust_env=False) as client:
            return await client.get("/")

    answer = asyncio.run(ask())
    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert "secret" not in answer.text
