"""Swagger UI and ReDoc come whole from the admin."""

import re
from collections.abc import Iterator

import httpx
import pytest

from tests.support.relays.admin_server import admin_client, admin_settings


@pytest.fixture(scope="module")
def admin() -> Iterator[httpx.Client]:
    with admin_client(admin_settings("127.0.0.1:1", "none")) as client:
        yield client


@pytest.mark.parametrize(("page", "needle"), [("/docs", "SwaggerUIBundle"), ("/redoc", "redoc")])
def test_a_page_names_only_files_of_the_admin(admin: httpx.Client, page: str, needle: str) -> None:
    answer = admin.get(page)
    assert answer.status_code == 200
    assert needle in answer.text
    assert not re.search(r"(?:src|href|url)\s*[=:]\s*['\"](?:https?:)?//", answer.text)
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    named = re.findall(r"(?:src|href)=\"(assets/[^\"]+)\"", answer.text)
    assert named
    for each in named:
        asset = admin.get(f"/{each}")
        assert asset.status_code == 200
        assert len(asset.content) > 1000
    assert "openapi.json" in answer.text
    assert admin.get("/openapi.json").json()["openapi"].startswith("3.1")


def test_nothing_beside_the_assets_is_served(admin: httpx.Client) -> None:
    assert admin.get("/assets/..%2fcore.py").status_code == 404
    assert admin.get("/assets/").status_code == 404
