"""The OpenAPI document, with errors described as they are sent."""

from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from api.errors import PROBLEM_JSON

_PROBLEM: Final = {"schema": {"$ref": "#/components/schemas/Problem"}}
_BY_FASTAPI: Final = ("HTTPValidationError", "ValidationError")
_ERRORS: Final = ("4", "5")


def describe(app: FastAPI) -> dict[str, Any]:
    """Return the document; it is made once."""
    if not app.openapi_schema:
        document = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
        for path in document["paths"].values():
            for operation in path.values():
                _describe_errors(operation["responses"])
        for name in _BY_FASTAPI:
            document["components"]["schemas"].pop(name, None)
        app.openapi_schema = document
    return app.openapi_schema


def _describe_errors(responses: dict[str, Any]) -> None:
    responses.pop("422", None)  # FastAPI's own form of it; 4XX says what is sent
    for status, response in responses.items():
        if status.startswith(_ERRORS) and any("schema" in each for each in response.get("content", {}).values()):
            response["content"] = {PROBLEM_JSON: _PROBLEM}
