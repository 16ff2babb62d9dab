"""Parses the four mapping documents, and finds all entries that cannot be read."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Generic, NoReturn, TypeAlias, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
)
from pydantic_core import ErrorDetails

from relay.route.names import NameRefused, split_outside_slashes
from relay.settings import nearest, told_errors

ROMA_GROUP: Final = "ROMA_GROUP"
DBS: Final = "com.pajk.Roma.dbs"
TBS: Final = "com.pajk.Roma.tbs"
TOPICS: Final = "com.pajk.Roma.topics"
TAGS: Final = "com.pajk.Roma.tags"
DATA_IDS: Final = (DBS, TBS, TOPICS, TAGS)

Documents: TypeAlias = Mapping[str, str | bytes]
"""dataId → JSON text. A missing document is an empty list."""


_MOST_PROBLEMS: Final = 1000
"""Largest number of problems of one document. The check then stops."""
SPACES_COUNT: Final = "spaces count"
"""How older versions read JSON lists: spaces around names are part of the names.

Sets that were saved then may contradict themselves if the spaces are removed.
"""


@dataclass(frozen=True, slots=True)
class MappingProblem:
    """A problem in a mapping document.

    data_id   dataId of the document
    pointer   JSON pointer (RFC 6901) of the wrong value
    sentence  what is wrong
    """

    data_id: str
    pointer: str
    sentence: str


def _comma_list(value: object, info: ValidationInfo) -> object:
    """Return `"a,b"` as `["a", "b"]`. Commas inside slashes belong to a regular expression.

    Spaces around names are removed.
    """
    try:
        if isinstance(value, str):
            return split_outside_slashes(value, ",")
    except NameRefused as exc:
        raise ValueError(str(exc)) from exc
    if isinstance(value, list) and info.context != SPACES_COUNT:
        return [each.strip() if isinstance(each, str) else each for each in value]
    return value


_NameList: TypeAlias = Annotated[
    tuple[Annotated[str, Field(strict=True)], ...],
    FailFast(),
    BeforeValidator(_comma_list, json_schema_input_type=str | list[str]),
]


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DatabaseEntry(_Entry):
    """An entry that names the real databases of one logical database."""

    logic_db: str = Field(alias="logicDb", strict=True)
    real_dbs: _NameList = Field(alias="realDbs")


class TableEntry(_Entry):
    """An entry that names the real tables of one logical table. All names may have a database
    prefix.
    """

    logic_tb: str = Field(alias="logicTb", strict=True)
    real_tbs: _NameList = Field(alias="realTbs")


class TopicEntry(_Entry):
    """An entry that gives a logical database one topic, or several that each receive
    every change.
    """

    logic_db: str = Field(alias="logicDb", strict=True)
    topics: _NameList = Field(alias="topic")


class TagEntry(_Entry):
    """An entry that gives tags to a logical table and to some of its fields.

    `names` are the table and then the fields; `tags` are their tags in the same order.
    """

    names: _NameList = Field(alias="logicTb")
    tags: _NameList = Field(alias="tag")


EntryT = TypeVar("EntryT", bound=_Entry)


@dataclass(frozen=True, slots=True)
class IndexedEntry(Generic[EntryT]):
    """An entry of a document with its index, which problems name."""

    index: int
    entry: EntryT


@dataclass(frozen=True, slots=True)
class MappingDocuments:
    """The four parsed mapping documents."""

    dbs: tuple[IndexedEntry[DatabaseEntry], ...] = ()
    tbs: tuple[IndexedEntry[TableEntry], ...] = ()
    topics: tuple[IndexedEntry[TopicEntry], ...] = ()
    tags: tuple[IndexedEntry[TagEntry], ...] = ()


def read_documents(
    documents: Documents, reading: str = ""
) -> tuple[MappingDocuments, list[MappingProblem]]:
    """Return (the parsed documents, the problems in them).

    A document with a problem is returned empty, so that the others can still be checked. If
    `reading` is SPACES_COUNT, names in JSON lists keep the spaces around them, as in older
    versions.
    """
    problems = [
        MappingProblem(data_id, "", _no_such_document(data_id))
        for data_id in documents
        if data_id not in DATA_IDS
    ]
    read = MappingDocuments(
        dbs=_read(documents, DBS, DatabaseEntry, problems, reading),
        tbs=_read(documents, TBS, TableEntry, problems, reading),
        topics=_read(documents, TOPICS, TopicEntry, problems, reading),
        tags=_read(documents, TAGS, TagEntry, problems, reading),
    )
    return read, problems


def _read(
    documents: Documents,
    data_id: str,
    entry: type[EntryT],
    problems: list[MappingProblem],
    reading: str,
) -> tuple[IndexedEntry[EntryT], ...]:
    try:
        body = json.loads(
            documents.get(data_id, "[]"),
            object_pairs_hook=once_each,
            parse_constant=_refuse_constant,
        )
        json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        sentence = (
            "The document holds half of a surrogate pair (\\ud800 to \\udfff), which is "
            "not a character."
        )
        problems.append(MappingProblem(data_id, "", sentence))
    except json.JSONDecodeError as exc:
        problems.append(
            MappingProblem(
                data_id,
                "",
                f"The document is not JSON: {exc.msg} in line {exc.lineno}, column {exc.colno}.",
            )
        )
    except (ValueError, RecursionError) as exc:
        problems.append(MappingProblem(data_id, "", f"The document is not JSON: {exc}."))
    else:
        return _entries(body, data_id, entry, problems, reading)
    return ()


def _entries(
    body: object, data_id: str, entry: type[EntryT], problems: list[MappingProblem], reading: str
) -> tuple[IndexedEntry[EntryT], ...]:
    if not isinstance(body, list):
        problems.append(MappingProblem(data_id, "", _SENTENCES["list_type"]))
        return ()
    adapter = TypeAdapter(entry)
    read: list[IndexedEntry[EntryT]] = []
    found: list[MappingProblem] = []
    for index, each in enumerate(body):
        try:
            read.append(IndexedEntry(index, adapter.validate_python(each, context=reading)))
        except ValidationError as exc:
            errors = told_errors(exc, entry)
            found += [
                MappingProblem(data_id, f"/{index}{_pointer(error)}", _sentence(error))
                for error in errors
            ]
            if len(found) >= _MOST_PROBLEMS:
                break
    problems += found
    return () if found else tuple(read)


class RepeatedKey(ValueError):
    """An object of a JSON text has a key more than once."""


def once_each(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return a JSON object of these keys and values; for `object_pairs_hook` of `json.loads`.

    Raises RepeatedKey for a repeated key, because JSON readers differ in which of its values they
    use.
    """
    result = dict(pairs)
    if len(result) < len(pairs):
        repeated = [key for key, times in Counter(key for key, _ in pairs).items() if times > 1]
        raise RepeatedKey(f"an object has more than one {', '.join(repeated)}: remove one")
    return result


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON value")


def _pointer(error: ErrorDetails) -> str:
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in error["loc"])


_SENTENCES: Final = {
    "missing": "This key is missing.",
    "string_type": "This must be a string.",
    "list_type": "The document must be a list of objects.",
    "model_type": "This must be an object.",
    "tuple_type": "This must be a string with commas, or a list of strings.",
}


def _no_such_document(data_id: str) -> str:
    near = nearest(data_id.rpartition(".")[2], [each.rpartition(".")[2] for each in DATA_IDS])
    meant = "" if near is None else f" Did you mean {near}?"
    return (
        "There is no mapping document of this name; the documents are "
        f"{', '.join(DATA_IDS)}.{meant}"
    )


def _sentence(error: ErrorDetails) -> str:
    known = _SENTENCES.get(error["type"])
    if known is not None or error["msg"].endswith("?"):
        return known or error["msg"]
    return f"{error['msg'].removeprefix('Value error, ').rstrip('.')}."
