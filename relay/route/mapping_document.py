"""The four mapping documents as they are written, and everything in one of them that cannot be read."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Generic, NoReturn, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from relay.route.names import NameRefused, split_outside_slashes

ROMA_GROUP: Final = "ROMA_GROUP"
DBS: Final = "com.pajk.Roma.dbs"
TBS: Final = "com.pajk.Roma.tbs"
TOPICS: Final = "com.pajk.Roma.topics"
TAGS: Final = "com.pajk.Roma.tags"
DATA_IDS: Final = (DBS, TBS, TOPICS, TAGS)

Documents: TypeAlias = Mapping[str, str | bytes]
"""dataId → JSON text; a document that is not there counts as an empty list."""


@dataclass(frozen=True, slots=True)
class MappingProblem:
    """One thing wrong: in which document, at which JSON pointer (RFC 6901), and why in a sentence."""

    data_id: str
    pointer: str
    sentence: str


def _comma_list(value: object) -> object:
    """Take `"a,b"` for `["a", "b"]`; commas inside slashes belong to the regular expression."""
    try:
        return split_outside_slashes(value, ",") if isinstance(value, str) else value
    except NameRefused as exc:
        raise ValueError(str(exc)) from exc


_NameList: TypeAlias = Annotated[
    tuple[Annotated[str, Field(strict=True)], ...],
    BeforeValidator(_comma_list, json_schema_input_type=str | list[str]),
]


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DatabaseEntry(_Entry):
    """Real databases that are shards of one logical one."""

    logic_db: str = Field(alias="logicDb", strict=True)
    real_dbs: _NameList = Field(alias="realDbs")


class TableEntry(_Entry):
    """Real tables that are shards of one logical one; either side may carry a database prefix."""

    logic_tb: str = Field(alias="logicTb", strict=True)
    real_tbs: _NameList = Field(alias="realTbs")


class TopicEntry(_Entry):
    """The topic of a logical database, or the list of topics that each get every change of it."""

    logic_db: str = Field(alias="logicDb", strict=True)
    topics: _NameList = Field(alias="topic")


class TagEntry(_Entry):
    """A logical table and some of its fields, and by position the tag of each."""

    names: _NameList = Field(alias="logicTb")
    tags: _NameList = Field(alias="tag")


EntryT = TypeVar("EntryT", bound=_Entry)


@dataclass(frozen=True, slots=True)
class Placed(Generic[EntryT]):
    """An entry and its index in the document, by which a problem names its place."""

    index: int
    entry: EntryT


@dataclass(frozen=True, slots=True)
class MappingDocuments:
    """The four documents, read."""

    dbs: tuple[Placed[DatabaseEntry], ...] = ()
    tbs: tuple[Placed[TableEntry], ...] = ()
    topics: tuple[Placed[TopicEntry], ...] = ()
    tags: tuple[Placed[TagEntry], ...] = ()


def read_documents(documents: Documents) -> tuple[MappingDocuments, list[MappingProblem]]:
    """Read all four; a document with a problem is read as empty, so that the others can still be checked for themselves."""
    problems = [
        MappingProblem(data_id, "", f"There is no mapping document of this name; they are {', '.join(DATA_IDS)}.")
        for data_id in documents
        if data_id not in DATA_IDS
    ]
    read = MappingDocuments(
        dbs=_read(documents, DBS, DatabaseEntry, problems),
        tbs=_read(documents, TBS, TableEntry, problems),
        topics=_read(documents, TOPICS, TopicEntry, problems),
        tags=_read(documents, TAGS, TagEntry, problems),
    )
    return read, problems


def _read(documents: Documents, data_id: str, entry: type[EntryT], problems: list[MappingProblem]) -> tuple[Placed[EntryT], ...]:
    try:
        body = json.loads(documents.get(data_id, "[]"), object_pairs_hook=_once_each, parse_constant=_refuse_constant)
        entries = TypeAdapter(list[entry]).validate_python(body)  # type: ignore[valid-type]  # the type is the argument
    except ValidationError as exc:
        problems += [MappingProblem(data_id, _pointer(error), _sentence(error)) for error in exc.errors(include_url=False)]
    except json.JSONDecodeError as exc:
        problems.append(MappingProblem(data_id, "", f"The document is not JSON: {exc.msg} in line {exc.lineno}, column {exc.colno}."))
    except (ValueError, RecursionError) as exc:
        problems.append(MappingProblem(data_id, "", f"The document is not JSON: {exc}."))
    else:
        return tuple(Placed(index, each) for index, each in enumerate(entries))
    return ()


def _once_each(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Build an object, but refuse a key that stands twice, of which JSON readers keep either."""
    result = dict(pairs)
    if len(result) < len(pairs):
        raise ValueError(f"one object holds a key twice: {', '.join(key for key, _ in pairs)}")
    return result


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON value")


def _pointer(error: ErrorDetails) -> str:
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in error["loc"])


_SENTENCES: Final = {
    "missing": "This key is missing.",
    "extra_forbidden": "This key is not known here.",
    "string_type": "This must be a string.",
    "list_type": "The document must be a list of objects.",
    "model_type": "This must be an object.",
    "tuple_type": "This must be a string with commas, or a list of strings.",
}


def _sentence(error: ErrorDetails) -> str:
    known = _SENTENCES.get(error["type"])
    return known or f"{error['msg'].removeprefix('Value error, ').rstrip('.')}."
