"""The body of an answer with an error, in the form of RFC 9457."""

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, Field

from relay.route import Documents, MappingProblem, TextLocations


class MappingProblemView(BaseModel):
    """A problem in a mapping document: the document, the JSON pointer (RFC 6901), and the reason.

    `line` and `column` count from 1 in the document's text; they are absent if the text is unknown.
    If the document was sent as JSON, the text is the admin's own, with one entry in each line.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "dataId": "com.pajk.Roma.dbs",
                "pointer": "/0/logicDb",
                "sentence": "The logical database shop has no topic in com.pajk.Roma.topics.",
                "line": 2,
                "column": 15,
            }
        },
    )

    data_id: str = Field(serialization_alias="dataId")
    pointer: str
    sentence: str
    line: int | None = None
    column: int | None = None

    @classmethod
    def listed(
        cls, problems: Iterable[MappingProblem], documents: Documents
    ) -> "list[MappingProblemView]":
        """Return the views of problems, with lines and columns in the texts of `documents`."""
        locations = {
            data_id: TextLocations(text)
            for data_id, text in documents.items()
            if isinstance(text, str)
        }
        return [cls._of(each, locations.get(each.data_id)) for each in problems]

    @classmethod
    def _of(cls, problem: MappingProblem, locations: TextLocations | None) -> "MappingProblemView":
        line, column = (None, None) if locations is None else locations.of(problem.pointer)
        return cls(
            data_id=problem.data_id,
            pointer=problem.pointer,
            sentence=problem.sentence,
            line=line,
            column=column,
        )


class ConflictView(BaseModel):
    """Who saved mappings since an edit began, and both changes."""

    set: int = Field(description="The active set.")
    author: str
    saved_ms: int
    comment: str
    theirs: dict[str, str] = Field(
        description="dataId → what others changed since the edit began: lines with `+`, `-` or a "
        "space before them."
    )
    mine: dict[str, str] = Field(description="What this edit changes, in the same form.")


class Problem(BaseModel):
    """An error: `code` is for programs, `detail` and `remedy` for people.

    `problems` lists the problems in the documents. `conflict` says who saved mappings since the
    edit began (status 412).
    """

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str
    remedy: str
    problems: list[MappingProblemView] | None = None
    conflict: ConflictView | None = None
