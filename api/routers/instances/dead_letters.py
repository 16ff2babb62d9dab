"""Dead letters of an instance: list them and send them again.

Dead letters contain rows: readers without the right `values` get neither keys nor values.
"""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Response

from api.deps import AdminDep, CallerDep, NoteDep
from api.errors import BadRequest
from api.listing import ListingDep
from api.models.dead_letter import DeadLetterView, LetterRowsView, OneLetterView, ReplayWish
from api.services.dead_letter_lists import SHOWN_ROWS
from relay.operations import Who, instance_of, replay

router: Final = APIRouter(prefix="/api/v1/instances/{name}/dead-letters", tags=["dead letters"])


@router.get("")
def list_dead_letters(
    admin: AdminDep, caller: CallerDep, name: str, part: ListingDep
) -> list[DeadLetterView]:
    """Return the dead letters of the instance, the oldest first, then damaged ones. They are read
    from Kafka. Only callers with the right `values` see keys.
    """
    return part.of(admin.letters.of_instance(name, values=caller.sees_values))


@router.get("/{letter}")
def read_dead_letter(admin: AdminDep, caller: CallerDep, name: str, letter: str) -> OneLetterView:
    """Return one dead letter without its value, with the current size limit of its topic, and the
    newer changes of its key that the topic contains. Only callers with the right `values` see the
    key.
    """
    return admin.letters.one(name, letter, values=caller.sees_values)


@router.get("/{letter}/rows")
def read_dead_letter_rows(
    admin: AdminDep,
    caller: CallerDep,
    name: str,
    letter: str,
    first: Annotated[int, Query(ge=0, le=2**31, description="Number of the first row.")] = 0,
    limit: Annotated[int, Query(ge=0, le=1000, description="Largest number of rows.")] = SHOWN_ROWS,
) -> LetterRowsView:
    """Return the columns of a dead letter's rows before and after the change.

    Masked columns are hidden from every caller, and all columns from callers without the right
    `values`.
    """
    numbers = slice(first, first + limit)
    return admin.letters.rows(name, letter, numbers, values=caller.sees_values)


@router.get(
    "/{letter}/value",
    response_class=Response,
    responses={200: {"content": {"application/json": {}}}},
)
def read_dead_letter_value(admin: AdminDep, name: str, letter: str) -> Response:
    """Return the value of a dead letter's message, byte for byte.

    A value with columns that a mask or a rule hides is refused (`VALUE_HIDDEN`).
    """
    return Response(admin.letters.value(name, letter), media_type="application/json")


@router.post("/{letter}/replay")
def replay_dead_letter(
    admin: AdminDep, name: str, letter: str, wish: ReplayWish, note: NoteDep
) -> DeadLetterView:
    """Send a dead letter's message to its topic, with its original order key."""
    if wish.confirm != letter:
        raise BadRequest(
            f"`confirm` is {wish.confirm!r}, but the request is about dead letter {letter!r}.",
            remedy="Repeat the id of the dead letter in `confirm`.",
        )
    admin.directory.instance(name)
    instance = instance_of(admin.settings, name, admin.session, resolved=False)
    replay(
        admin.settings,
        instance,
        letter,
        Who(note.author, note.comment),
        again=wish.again,
    )
    return admin.letters.head(name, letter, values=True)
