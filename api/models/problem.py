"""What went wrong, as RFC 9457 writes it."""

from pydantic import BaseModel, ConfigDict, Field

from relay.route import MappingProblem


class MappingProblemView(BaseModel):
    """One thing wrong: in which document, at which JSON pointer (RFC 6901), and why."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "dataId": "com.pajk.Roma.dbs",
                "pointer": "/0/logicDb",
                "sentence": "The logical database shop has no topic in com.pajk.Roma.topics.",
            }
        },
    )

    data_id: str = Field(serialization_alias="dataId")
    pointer: str
    sentence: str

    @classmethod
    def of(cls, problem: MappingProblem) -> "MappingProblemView":
        """Return the problem of a mapping document, field by field."""
        return cls(data_id=problem.data_id, pointer=problem.pointer, sentence=problem.sentence)


class Problem(BaseModel):
    """An error: `code` is for programs, `detail` and `remedy` for people.

    `problems` lists the places in the documents.
    """

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str
    remedy: str
    problems: list[MappingProblemView] | None = None
