"""Backups of the documents of an installation, sealed by a passphrase."""

import json
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue, SecretStr

from relay.operations import RestorePreview

SEALED_EXAMPLE: Final[dict[str, JsonValue]] = {
    "kind": "roma-backup",
    "format": 1,
    "installation": "prod",
    "made_ms": 1795427528131,
    "salt": "8Yw0…",
    "nonce": "q1Zs…",
    "documents": "hT7c…",
}
"""Example of a sealed backup in the OpenAPI document."""


class BackupWish(BaseModel):
    """The request for a backup: the passphrase that encrypts it."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"example": {"passphrase": "correct horse battery"}}
    )

    passphrase: SecretStr = Field(description="At least 12 characters; nobody can recover it.")


class SealedBackup(BaseModel):
    """A sealed backup and the passphrase that opens it."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "example": {"file": SEALED_EXAMPLE, "passphrase": "correct horse battery"}
        },
    )

    file: dict[str, Any] | str = Field(description="The answer of `POST /api/v1/backup`.")
    passphrase: SecretStr

    @property
    def text(self) -> str:
        """Return the backup without the passphrase, as JSON text."""
        return self.file if isinstance(self.file, str) else json.dumps(self.file)


class RestoreOrder(SealedBackup):
    """The order to restore a sealed backup, confirmed by the installation's name."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "example": {
                "file": SEALED_EXAMPLE,
                "passphrase": "correct horse battery",
                "confirm": "prod",
                "over_present": True,
            }
        },
    )

    confirm: str = Field(description="The installation's name.", examples=["prod"])
    over_present: bool = Field(
        False,
        description="Replace present documents that differ. False: a restore is refused if the "
        "installation has documents.",
    )


class RestorePreviewView(BaseModel):
    """The effect of a restore."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "documents": 214,
                "made_ms": 1795427528131,
                "missing": [],
                "differ": ["mappings/pointer"],
                "kept": ["topics/orders"],
                "only_here": 2,
                "sentences": ["Mapping set 41 is active now. Set 39 becomes active."],
            }
        }
    )

    documents: int = Field(description="Documents of the backup.")
    made_ms: int
    missing: list[str] = Field(description="Documents that are not there now.")
    differ: list[str] = Field(description="Documents that would be replaced.")
    kept: list[str] = Field(
        description="Facts that relays noted and that differ; the present ones stay."
    )
    only_here: int = Field(description="Present documents that the backup lacks; they stay.")
    sentences: list[str]

    @classmethod
    def of(cls, preview: RestorePreview) -> "RestorePreviewView":
        """Return the view of a preview."""
        return cls(
            documents=preview.documents,
            made_ms=preview.made_ms,
            missing=list(preview.changes.missing),
            differ=list(preview.changes.differ),
            kept=list(preview.changes.kept),
            only_here=preview.changes.only_here,
            sentences=list(preview.sentences),
        )


class RestoreResult(BaseModel):
    """The counts of a finished restore."""

    model_config = ConfigDict(json_schema_extra={"example": {"documents": 214, "written": 3}})

    documents: int = Field(description="Documents of the backup.")
    written: int = Field(description="Documents that were written.")
