"""Endpoints for mapping documents, addressed by group and dataId as in a configuration centre."""

import json
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Query, Response

from api.deps import AdminDep, BodyDep, NoteDep, PreconditionDep
from api.entity_tag import TagList, entity_tag
from api.middleware.request_body import document_text, documents_of
from api.models.mappings.mapping import ChangeView, DocumentVersionView, SavedView, SetView
from api.services.mappings.effects.load import Load
from api.services.mappings.mapping_archive import check_group
from api.services.mappings.mapping_editor import Saved
from api.services.mappings.routing_views import RouteEffect

router: Final = APIRouter(prefix="/api/v1/configs", tags=["mapping documents"])

_DBS_EXAMPLE: Final = [{"logicDb": "shop", "realDbs": "shop_01,shop_02"}]
_DOCUMENT_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {"type": "array", "items": {"type": "object"}},
                "example": _DBS_EXAMPLE,
            }
        },
    }
}
GROUP_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "description": "dataId → document, as JSON or as the text of JSON.",
        "content": {
            "application/json": {
                "schema": {"type": "object", "additionalProperties": True},
                "example": {
                    "com.pajk.Roma.dbs": _DBS_EXAMPLE,
                    "com.pajk.Roma.tbs": [{"logicTb": "client", "realTbs": "user,customer"}],
                    "com.pajk.Roma.topics": [{"logicDb": "shop", "topic": "shop"}],
                    "com.pajk.Roma.tags": [{"logicTb": "client,email", "tag": "client,contact"}],
                },
            }
        },
    }
}
_BODY_RESPONSE: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "The document as it was saved.",
        "content": {"application/json": {"example": _DBS_EXAMPLE}},
    }
}


@router.get("/{group}/{data_id}", responses=_BODY_RESPONSE, response_class=Response)
def read_document(
    admin: AdminDep, group: str, data_id: str, if_none_match: Annotated[str | None, Header()] = None
) -> Response:
    """Return the active version of a document, byte for byte as it was saved.

    The ETag is the number of the active set.
    """
    stored, body = admin.mappings.archive.document(group, data_id)
    headers = {
        "ETag": entity_tag(stored.number),
        "X-Document-Version": str(stored.record.versions[data_id]),
    }
    known = TagList.read(if_none_match)
    if known is not None and known.names(stored.number):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


@router.put(
    "/{group}/{data_id}", openapi_extra=_DOCUMENT_BODY, responses={201: {"model": SavedView}}
)
def save_document(
    admin: AdminDep,
    response: Response,
    group: str,
    data_id: str,
    body: BodyDep,
    precondition: PreconditionDep,
    note: NoteDep,
) -> SavedView:
    """Save one document. The new set of four documents is checked as a whole.

    Replacing an existing document requires If-Match.

    A logical database needs a topic: save `topics` before `dbs`, or all documents together.
    """
    saved = admin.mappings.editor.save_document(
        group, data_id, document_text(data_id, body), precondition, note
    )
    if saved.made and saved.stored.record.versions[data_id] == 1:
        response.status_code = 201
    return saved_view(saved, response)


@router.get("/{group}")
def read_group(admin: AdminDep, response: Response, group: str) -> dict[str, Any]:
    """Return all active documents by dataId, in the form that PUT accepts.

    A document whose text is not JSON is returned as a string.
    """
    check_group(group)
    stored = admin.mappings.archive.active()
    response.headers["ETag"] = entity_tag(stored.number)
    return {data_id: _json_or_text(body) for data_id, body in stored.bodies.items()}


@router.put("/{group}", openapi_extra=GROUP_BODY)
def save_group(
    admin: AdminDep,
    response: Response,
    group: str,
    body: BodyDep,
    precondition: PreconditionDep,
    note: NoteDep,
) -> SavedView:
    """Save all documents in one step. A document that the request does not contain is deleted.

    After the first save, If-Match is required.
    """
    return saved_view(
        admin.mappings.editor.save_group(group, documents_of(body), precondition, note), response
    )


@router.get("/{group}/{data_id}/history")
def read_history(
    admin: AdminDep,
    group: str,
    data_id: str,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    offset: Annotated[int, Query(ge=0, le=2**31, description="Number of entries to skip.")] = 0,
) -> list[DocumentVersionView]:
    """Return the document's versions, the newest first."""
    active = admin.mappings.archive.active_version(data_id)
    return [
        DocumentVersionView.of(each, active)
        for each in admin.mappings.archive.history(group, data_id, offset + limit)[offset:]
    ]


@router.get("/{group}/{data_id}/history/{version}")
def read_version(admin: AdminDep, group: str, data_id: str, version: int) -> DocumentVersionView:
    """Return one version of the document."""
    return DocumentVersionView.of(
        admin.mappings.archive.version(group, data_id, version),
        admin.mappings.archive.active_version(data_id),
    )


def saved_view(saved: Saved, response: Response) -> SavedView:
    """Return the view of a save, and set the header ETag of `response` to the number of the active
    set.
    """
    response.headers["ETag"] = entity_tag(saved.stored.number)
    return SavedView(
        set=SetView.of(saved.stored.record, saved.stored.number),
        changes=[change_view(each) for each in saved.changes],
    )


def change_view(change: RouteEffect, load: Load | None = None) -> ChangeView:
    """Return the view of one effect of an edit.

    `load` is the number of rows per second that the change concerns now; None: it is unknown, or
    the edit was already saved.
    """
    return ChangeView(
        instances=list(change.instances),
        sentence=change.sentence,
        tables=list(change.tables),
        kind=change.kind,
        count=len(change.tables),
        consequence=change.consequence,
        met_by=[] if load is None else list(load.instances),
        rows_per_second=None if load is None else load.rows_per_second,
        rows_per_second_is_bound=load is not None and load.is_bound,
    )


def _json_or_text(body: str) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return body
