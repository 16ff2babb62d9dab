"""What every settings model has."""

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

Name: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
Port: TypeAlias = Annotated[int, Field(ge=1, le=65535)]


class Settings(BaseModel):
    """Base of every settings model."""

    model_config = ConfigDict(frozen=True, extra="forbid")
