"""Every error of the relay has a status; a new one is never answered by chance."""

import asyncio
from http import HTTPStatus

import httpx
import pytest
from fastapi import FastAPI

import api.access.provider.errors  # noqa: F401  # its errors are among the subclasses
from api.error_answers import install_error_handlers
from api.error_status import status_of
from api.errors import ApiError, ProblemsFound
from relay.errors import (
    MappingRefused,
    NodeMissing,
    RelayError,
    SaveTooLarge,
    SourceNotNamed,
    StoreRefused,
    StoreUnreachable,
    VersionConflict,
)
from relay.model.names.source_name import source_named
from relay.route import MappingProblem


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (StoreUnreachable("x"), 503),
        (VersionConflict("x"), 412),
        (NodeMissing("x"), 404),
        (MappingRefused("x", data_id="d", pointer=""), 422),
        (SaveTooLarge("x", data_id="d", pointer=""), 413),
        (StoreRefused("x"), 502),
        (RelayError("x"), 500),
        (ProblemsFound([MappingProblem("d", "", "x")]), 422),
    ],
)
def test_the_table(error: RelayError, status: int) -> None:
    assert status_of(error) == status


def test_every_error_of_the_admin_has_a_code_a_remedy_and_a_status_of_its_own() -> None:
    leaves = ApiError.__subclasses__()
    assert len(leaves) == 30
    assert len({leaf.code for leaf in leaves}) == len(leaves)
    assert all(leaf.status != HTTPStatus.INTERNAL_SERVER_ERROR for leaf in leaves)
    assert all(leaf.remedy != RelayError.remedy for leaf in leaves)


def answer_of(error: Exception) -> httpx.Response:
    """What a request gets whose answer ends in this error."""
    app = FastAPI()
    install_error_handlers(app)

    @app.get("/")
    def broken() -> None:
        raise error

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://admin", trust_env=False
        ) as client:
            return await client.get("/")

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("known", "wanted", "remedy"),
    [
        (("first", "second"), None, "Name one of these with `source`."),
        ((), "first", "Leave `source` out."),
    ],
)
def test_a_source_is_asked_for_by_the_field_of_the_request(
    known: tuple[str, ...], wanted: str | None, remedy: str
) -> None:
    with pytest.raises(SourceNotNamed) as refused:
        source_named("shop", known, wanted)
    answer = answer_of(refused.value)
    assert (answer.status_code, answer.json()["code"], answer.json()["remedy"]) == (
        400,
        "SOURCE_NOT_NAMED",
        remedy,
    )


def test_an_error_of_our_own_tells_the_client_nothing_and_has_the_usual_form() -> None:
    answer = answer_of(ZeroDivisionError("a secret detail"))
    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert "secret" not in answer.text
