"""Reads the parts of a request that changes something: the body up to a limit, the author and the
comment.
"""

import json
from collections.abc import Mapping
from time import time
from typing import Final
from urllib.parse import unquote

from fastapi import Request

from api.errors import BadRequest, ProblemsFound
from relay.route import MappingProblem, RepeatedKey, once_each
from relay.state import SAVE_LIMIT_BYTES, Note
from relay.telemetry import visible

# JSON may write one character of a document as six (\u00e9), so a body may be larger than what is
# saved of it.
BODY_LIMIT_BYTES: Final = 6 * SAVE_LIMIT_BYTES
OPEN_BODY_LIMIT_BYTES: Final = 2 * SAVE_LIMIT_BYTES
"""Largest body in bytes of a request to an endpoint that requires no token."""
LOGIN_BODY_LIMIT_BYTES: Final = 16_384
"""Largest body in bytes of a request to an endpoint that requires neither a sign-in nor a right."""
_AUTHOR_CHARACTERS: Final = 200
_COMMENT_CHARACTERS: Final = 2000


async def read_body(request: Request) -> bytes:
    """Return the body of the request, which `Guard` has read and whose size it has limited."""
    return await request.body()


def document_text(data_id: str, body: bytes) -> str:
    """Return a document's text as it was sent, without a byte order mark.

    Raises ProblemsFound if it is not UTF-8.
    """
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise ProblemsFound(
            [
                MappingProblem(
                    data_id, "", f"The document is not UTF-8: {exc.reason} at byte {exc.start}."
                )
            ]
        ) from exc


def documents_of(body: bytes) -> Mapping[str, str]:
    """Return the documents in a request's body: dataId → text of JSON.

    The body is a JSON object; each value is a document as JSON, or a string with the document's
    text. Raises BadRequest if the body is not such an object, ProblemsFound for invalid documents.
    """
    parsed = json_of(body)
    if not isinstance(parsed, dict):
        raise BadRequest(
            "The body of the request is JSON, but not an object.",
            remedy='Send {"<dataId>": <document>, …} with the documents.',
        )
    return {
        data_id: value if isinstance(value, str) else pretty_document(value)
        for data_id, value in parsed.items()
    }


def json_of(body: bytes) -> object:
    """Return the JSON value of a body.

    Raises BadRequest if the body is not JSON, has a duplicate key, or half of a surrogate pair.
    """
    try:
        parsed = json.loads(body, object_pairs_hook=once_each)
        json.dumps(parsed, ensure_ascii=False).encode()
    except UnicodeEncodeError as exc:
        raise BadRequest(
            "The body of the request contains half of a surrogate pair (\\ud800 to \\udfff), "
            "which is not a character."
        ) from exc
    except RepeatedKey as exc:
        raise _repeated(exc) from exc
    except (ValueError, RecursionError) as exc:
        raise BadRequest(f"The body of the request is not JSON: {exc}.") from exc
    return parsed


def check_keys(body: bytes) -> None:
    """Raise BadRequest if an object in a JSON body has a key more than once.

    A body that is not JSON raises no error here, because the function that parses it refuses it.
    """
    try:
        json.loads(body, object_pairs_hook=once_each)
    except RepeatedKey as exc:
        raise _repeated(exc) from exc
    except (ValueError, RecursionError):
        return


def _repeated(error: RepeatedKey) -> BadRequest:
    return BadRequest(
        f"In the body of the request, {error}.", remedy="Send each key of an object once."
    )


def note_of(author: str | None, comment: str | None) -> Note:
    """Return author, comment and the present time of an act.

    author, comment  values of the request's two headers; characters outside ASCII are
                     percent-encoded UTF-8 or raw UTF-8; None: the header is missing
    """
    return note_now(_header_text(author), _header_text(comment))


def note_now(author: str, comment: str) -> Note:
    """Return a note with the present time; long texts are cut, control characters are escaped."""
    return Note(
        _shown(author, _AUTHOR_CHARACTERS),
        _shown(comment, _COMMENT_CHARACTERS),
        int(time() * 1000),
    )


def pretty_document(value: object) -> str:
    """Return the JSON document with one entry on each line, readable in a history."""
    if not isinstance(value, list) or not value:
        return json.dumps(value, ensure_ascii=False)
    return (
        "[\n"
        + ",\n".join(f"  {json.dumps(entry, ensure_ascii=False)}" for entry in value)
        + "\n]\n"
    )


def _shown(text: str, characters: int) -> str:
    return visible(text.strip()[:characters])[:characters]


def _header_text(value: str | None) -> str:
    if value is None:
        return ""
    try:
        raw = value.encode("latin-1").decode()  # the server reads headers as Latin-1
    except UnicodeError:
        raw = value
    return unquote(raw)
