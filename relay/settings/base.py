"""What every settings model has."""

from typing import Annotated, Any, Final, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from relay.settings.secrets import RunTimeVariables, refuse_variables

NAME_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
Name: TypeAlias = Annotated[str, Field(pattern=NAME_PATTERN)]
Port: TypeAlias = Annotated[int, Field(ge=1, le=65535)]


class Settings(BaseModel):
    """Base of every settings model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _variables_stand_in_secrets_alone(cls, values: Any, info: ValidationInfo) -> Any:
        if isinstance(info.context, RunTimeVariables):
            refuse_variables(values, cls._secret_fields(), info.context.allowed)
        return values

    @classmethod
    def _secret_fields(cls) -> frozenset[str]:
        return frozenset(
            name for name, field in cls.model_fields.items() if "SecretStr" in str(field.annotation)
        )
