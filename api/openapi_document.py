"""Builds the OpenAPI document of the admin, with its own error format and the rights of each
endpoint.
"""

from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from api.access import ANONYMOUS, rights_needed
from api.error_answers import PROBLEM_JSON

_PROBLEM: Final = {"schema": {"$ref": "#/components/schemas/Problem"}}
_BY_FASTAPI: Final = ("HTTPValidationError", "ValidationError")
_BEARER: Final = {
    "type": "http",
    "scheme": "bearer",
    "description": "The admin's token (api.token of the configuration file).",
}
_ERRORS: Final = ("4", "5")


def openapi_document(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of an application; the first call builds it, later calls reuse
    it.
    """
    if not app.openapi_schema:
        document = get_openapi(
            title=app.title, version=app.version, summary=app.summary, routes=app.routes
        )
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                _describe_errors(operation["responses"])
                _describe_rights(operation, method, path)
        document["components"]["securitySchemes"] = {"HTTPBearer": _BEARER}
        for name in _BY_FASTAPI:
            document["components"]["schemas"].pop(name, None)
        app.openapi_schema = document
    return app.openapi_schema


def _describe_errors(responses: dict[str, Any]) -> None:
    responses.pop("422", None)  # FastAPI's own error form; 4XX describes the form that is sent
    for status, response in responses.items():
        if status.startswith(_ERRORS) and any(
            "schema" in each for each in response.get("content", {}).values()
        ):
            response["content"] = {PROBLEM_JSON: _PROBLEM}


def _describe_rights(operation: dict[str, Any], method: str, path: str) -> None:
    needed = rights_needed(method.upper(), path)
    operation["x-rights"] = sorted(needed)
    if not needed <= ANONYMOUS.rights:
        operation["security"] = [{"HTTPBearer": []}]
