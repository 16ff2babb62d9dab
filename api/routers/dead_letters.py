"""Dead letters: what an instance kept back. They are sent again by `roma dead-letter replay`."""

from typing import Final

from fastapi import APIRouter, Response

from api.deps import AdminDep
from api.models.dead_letter import DeadLetterView

router: Final = APIRouter(prefix="/api/v1/instances/{name}/dead-letters", tags=["dead letters"])


@router.get("")
def list_dead_letters(admin: AdminDep, name: str) -> list[DeadLetterView]:
    """Return what the instance kept back, the oldest first, as Kafka holds it."""
    return [DeadLetterView.of(listed) for listed in admin.dead_letters(name).letters()]


@router.get("/{letter}")
def read_dead_letter(admin: AdminDep, name: str, letter: str) -> DeadLetterView:
    """Return one of them without its value."""
    return DeadLetterView.of(admin.dead_letters(name).letter(letter))


@router.get("/{letter}/value", response_class=Response, responses={200: {"content": {"application/json": {}}}})
def read_dead_letter_value(admin: AdminDep, name: str, letter: str) -> Response:
    """Return its value, byte for byte."""
    return Response(admin.dead_letters(name).letter(letter).letter.message.value or b"", media_type="application/json")
