"""The base class of every settings model, and the types of names that several models use."""

from typing import Annotated, Any, Final, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from relay.model.names.topic_template import topic_mistakes
from relay.settings.secrets import RunTimeVariables, refuse_variables


def _topic(text: str) -> str:
    mistake = next(topic_mistakes(text), None)
    if mistake is not None:
        raise ValueError(mistake)
    return text


_RESERVED: Final = ("second.", "replay.")
"""Prefixes that an instance's name must not have. A transactional id is the installation's name, a
dot and the instance's name; the ids of an instance's further producers have such a prefix before
the instance's name.
"""
_ERASE: Final = "erase"
"""A name that no instance may have, because the transactional id of `roma erase` ends with it."""


def _with_own_transactional_id(name: str) -> str:
    """Refuse a name that would give two producers the same transactional id."""
    if name == _ERASE or name.startswith(_RESERVED):
        raise ValueError(
            f"an instance cannot be called {name!r}: names that begin with 'second.' or 'replay.', "
            "and the name 'erase', give transactional ids of other producers; choose another name"
        )
    return name


NAME_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
Name: TypeAlias = Annotated[str, Field(pattern=NAME_PATTERN)]
InstanceName: TypeAlias = Annotated[Name, AfterValidator(_with_own_transactional_id)]
TopicName: TypeAlias = Annotated[str, AfterValidator(_topic)]
"""A topic, or a pattern with the placeholders of `relay.model.names.topic_template`."""
Port: TypeAlias = Annotated[int, Field(ge=1, le=65535)]


class Settings(BaseModel):
    """Base class of every settings model: frozen, and unknown keys are errors."""

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
