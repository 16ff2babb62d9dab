"""Bodies of requests and answers about mapping documents, sets, and the effects of an edit."""

from pydantic import BaseModel, ConfigDict, Field

from api.models.problem import MappingProblemView
from relay.route import ChangeKind
from relay.state import SetRecord, StoredDocument


class ChangeView(BaseModel):
    """A sentence about one effect of an edit, with the instances and the real tables that it
    concerns.

    `count` is the number of the tables. `database.*` means every table of a database that is not
    listed separately, and counts as one.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "instances": ["shop"],
                "sentence": (
                    "2 real tables (shop_01.user, shop_02.user): moved from topic shop to topic "
                    "people."
                ),
                "tables": ["shop_01.user", "shop_02.user"],
                "kind": "moved",
                "count": 2,
                "consequence": "Consumers must read the new topic from then on.",
            }
        }
    )

    instances: list[str]
    sentence: str
    tables: list[str]
    kind: ChangeKind
    count: int
    consequence: str = Field(description="What it means for consumers; empty for a note.")
    met_by: list[str] = Field(
        default=[], description="Instances that have read its tables; only in a dry run."
    )
    rows_per_second: float | None = Field(
        default=None,
        description=(
            "Rows of these tables that these instances publish. Null where it is not known, and "
            "outside a dry run."
        ),
    )
    rows_per_second_is_bound: bool = Field(
        default=False,
        description="Whether rows of other tables may be in the rate: an upper bound.",
    )


class SetView(BaseModel):
    """A mapping set: the version of each document, the author, the time (Unix milliseconds) and the
    comment.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "set": 12,
                "in_force": True,
                "author": "ann",
                "comment": "second shard",
                "saved_ms": 1767225600000,
                "documents": {"com.pajk.Roma.dbs": 3, "com.pajk.Roma.topics": 1},
                "restored_from": None,
            }
        }
    )

    set: int
    in_force: bool
    author: str
    comment: str
    saved_ms: int
    documents: dict[str, int]
    restored_from: int | None

    @classmethod
    def of(cls, record: SetRecord, active: int | None) -> "SetView":
        """Return the view of a set without the documents' texts.

        `active` is the number of the active set; None: the active set is unknown.
        """
        return cls(
            set=record.number,
            in_force=record.number == active,
            documents=dict(record.versions),
            restored_from=record.restored_from,
            author=record.note.author,
            comment=record.note.comment,
            saved_ms=record.note.saved_ms,
        )


class WholeSetView(SetView):
    """A mapping set with its documents' text."""

    bodies: dict[str, str]


class SavedView(BaseModel):
    """The set that a save or rollback activated, and its changes."""

    set: SetView
    changes: list[ChangeView]


class DocumentVersionView(BaseModel):
    """One version of a document; `body` is its text, byte for byte as it was saved."""

    data_id: str = Field(serialization_alias="dataId")
    version: int
    in_force: bool
    author: str
    comment: str
    saved_ms: int
    body: str

    @classmethod
    def of(cls, document: StoredDocument, active: int | None) -> "DocumentVersionView":
        """Return the view of a version; `active` is the active version of this document, or
        None.
        """
        return cls(
            data_id=document.data_id,
            version=document.version,
            in_force=document.version == active,
            body=document.body,
            author=document.note.author,
            comment=document.note.comment,
            saved_ms=document.note.saved_ms,
        )


class DocumentsView(BaseModel):
    """Mapping documents that were not saved."""

    base: int = Field(description="The set that they were made from.")
    documents: dict[str, str] = Field(description="dataId → text.")


class MergeRequest(BaseModel):
    """An edit, and the set that it began with."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "example": {
                "base": 11,
                "documents": {
                    "com.pajk.Roma.dbs": '[{"logicDb": "shop", "realDbs": "shop_01"}]',
                    "com.pajk.Roma.topics": '[{"logicDb": "shop", "topic": "shop"}]',
                },
            }
        },
    )

    base: int = Field(ge=0)
    documents: dict[str, str] = Field(description="dataId → text; others are deleted.")


class ClashView(BaseModel):
    """An entry that both edits changed. The merged documents contain the saved entry."""

    data_id: str = Field(serialization_alias="dataId")
    mine: str = Field(description="The entry of this edit; empty: it removed the entry.")
    theirs: str = Field(description="The saved entry; empty: it was removed.")


class MergedView(DocumentsView):
    """The active set with an edit applied to it. Nothing is saved."""

    clashes: list[ClashView]
    unread: list[str] = Field(
        description="Documents that cannot be merged, because they are not lists of objects; "
        "`documents` has the text of this edit."
    )


class DryRunView(BaseModel):
    """The result of a dry run: all problems, or if there are none, the effects compared with set
    `base`.
    """

    base: int
    acceptable: bool
    problems: list[MappingProblemView]
    changes: list[ChangeView]
    unchanged: int = Field(description="Known real tables whose route is unchanged.")


class RollBackRequest(BaseModel):
    """The number of the set whose documents become the next set."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"set": 11}})

    set: int = Field(ge=0)
