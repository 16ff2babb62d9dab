"""Bodies about the erasure of a person: search terms, findings, and the order to erase them."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

ErasureState = Literal["looking", "found", "erasing", "erased", "failed"]


class ErasureWish(BaseModel):
    """The search terms that identify a person. Answers and the audit trail never contain them."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"keys": ['["shop.client","7"]'], "texts": ["Jane Roe"]}]},
    )

    keys: list[str] = Field(
        default=[], max_length=1000, description="Keys of messages, as consumers see them."
    )
    texts: list[str] = Field(
        default=[],
        max_length=100,
        description="Texts that name the person, of at least 4 characters.",
    )
    topics: list[str] = Field(
        default=[], max_length=100, description="Topics beside those that the instances feed."
    )


class ErasureOrder(BaseModel):
    """The confirmation to erase what a search has found."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"confirm": "roma", "by_text": True}]}
    )

    confirm: str = Field(description="The name of the installation, typed by a person.")
    delete_records: bool = Field(
        default=False,
        description="In topics without compaction, delete all records up to the last one with one "
        "of the keys.",
    )
    by_text: bool = Field(default=False, description="Also erase what only a text was found in.")


class ErasureView(BaseModel):
    """One search for a person, and the erasure that follows it."""

    number: str
    state: ErasureState
    step: str = Field(description="The present step; empty while no search or erasure runs.")
    asked_by: str
    started_ms: int
    sentences: list[str] = Field(
        description="The findings, the planned actions, and after the act the remaining data."
    )
    nothing_found: bool
    code: str = Field(description="Code of the error that ended it; empty without one.")
    reason: str
    remedy: str
