"""Secret values, which are read from the environment or from a folder of files at each use, and are
never printed.

The settings models use these types for passwords and tokens. A string that consists of `${NAME}` is
replaced by a variable. Rules:

- A configuration file may use any variable in any string: its author also controls the
  environment of the process.
- A document that is edited at run time may use variables in secret fields only, and only those
  that `secrets.run_time` lists.
"""

import os
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

from pydantic import (
    BeforeValidator,
    SecretStr,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

RUN_TIME_VARIABLES: Final = "ROMA_SECRET_*"
"""The variables that run-time documents may use by default."""
HARMLESS_CLAIM_OPTIONS: Final = frozenset(
    {
        "anon",
        "auto_mkdir",
        "endpoint_url",
        "host",
        "port",
        "project",
        "protocol",
        "region_name",
        "requester_pays",
        "use_ssl",
        "version_aware",
    }
)
"""Options of fsspec file systems whose values may be shown. Every other value is a secret."""
HARMLESS_KAFKA_OPTIONS: Final = frozenset(
    {
        "broker.address.family",
        "client.id",
        "client.rack",
        "debug",
        "sasl.kerberos.principal",
        "sasl.kerberos.service.name",
        "sasl.mechanism",
        "sasl.mechanisms",
        "sasl.username",
        "security.protocol",
        "ssl.ca.location",
        "ssl.certificate.location",
        "ssl.endpoint.identification.algorithm",
        "ssl.key.location",
        "ssl.keystore.location",
    }
)
"""librdkafka settings whose values may be shown. Every other value is a secret."""


class Substituted(str):
    """The value of a variable, with the variable. A secret field reads the variable again at each
    use.
    """

    __slots__ = ("source",)
    source: "Variable"

    @classmethod
    def of(cls, variable: "Variable") -> "Substituted":
        """Read the variable now. Raises ValueError as `Variable.read` does."""
        text = cls(variable.read())
        text.source = variable
        return text


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable by name. A file of that name in `folder` has priority over the environment."""

    name: str
    folder: Path | None = None

    def read(self) -> str:
        """Return the current value, without the last line break if it comes from a file.

        Raises ValueError if there is no value.
        """
        file = None if self.folder is None else self.folder / self.name
        try:
            if file is not None and file.is_file():
                return file.read_text(encoding="utf-8-sig").removesuffix("\n").removesuffix("\r")
        except (OSError, UnicodeDecodeError) as exc:
            raise ValueError(f"{file} cannot be read: {exc}") from exc
        if self.name not in os.environ:
            where = (
                "; set it"
                if file is None
                else f", and there is no file {file}; set the variable, or write the file"
            )
            raise ValueError(f"names the environment variable {self.name}, which is not set{where}")
        return os.environ[self.name]


class VariableSecret(SecretStr):
    """A secret that is read at each use, so that a changed value applies without a restart."""

    def __init__(self, text: Substituted) -> None:
        super().__init__(str(text))
        self._variable = text.source

    def get_secret_value(self) -> str:
        """Return the current value of the variable. If it cannot be read now, return the value that
        was read last.
        """
        with suppress(ValueError):  # the file is being replaced
            self._secret_value = self._variable.read()
        return self._secret_value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VariableSecret) and other._variable == self._variable

    def __hash__(self) -> int:
        return hash(self._variable)


@dataclass(frozen=True, slots=True)
class RunTimeVariables:
    """The environment variables that a document edited at run time may use.

    allowed   patterns of their names; `*` matches any characters
    folder    folder of secret files, which have priority over the environment; None: none
    resolved  False: names are checked, and no value is read
    """

    allowed: tuple[str, ...] = (RUN_TIME_VARIABLES,)
    folder: Path | None = None
    resolved: bool = True

    def secret(self, name: str) -> str:
        """Return the value of a variable for a secret field.

        Raises ValueError if the variable is not allowed or not set.
        """
        if not any(fnmatchcase(name, each) for each in self.allowed):
            raise ValueError(
                f"names the environment variable {name}, which documents may not use: they may "
                f"use {', '.join(self.allowed) or 'none'}. "
                f'Rename the variable, or add "{name}" to secrets.run_time of the configuration '
                f"file of relays and admin"
            )
        return Substituted.of(Variable(name, self.folder)) if self.resolved else f"${{{name}}}"


def variable_name(value: object) -> str | None:
    """Return NAME if the whole string is `${NAME}`; None for any other value."""
    if isinstance(value, str) and value.startswith("${") and value.endswith("}"):
        return value[2:-1]
    return None


def refuse_variables(
    values: object, secret_fields: frozenset[str], allowed: tuple[str, ...]
) -> None:
    """Raise ValueError if a field that is not secret names a variable."""
    if not isinstance(values, dict):
        return
    for field, value in values.items():
        if field not in secret_fields and (name := variable_name(value)) is not None:
            raise ValueError(
                f"{field} names the environment variable {name}: documents may use variables "
                f"({', '.join(allowed) or 'none'}) in passwords "
                "and other secret fields only. Write the value itself into this field"
            )


def _secret(value: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> SecretStr:
    text = _with_variable(value, info)
    checked: SecretStr = text if isinstance(text, VariableSecret) else handler(text)
    return checked


def _with_variable(value: Any, info: ValidationInfo) -> Any:
    """Return the secret if `value` is text with the variable's value; return any other value
    unchanged.
    """
    name = variable_name(value)
    if name is not None and isinstance(info.context, RunTimeVariables):
        value = info.context.secret(name)
    return VariableSecret(value) if isinstance(value, Substituted) else value


def _options(harmless: Collection[str]) -> Callable[[Any, ValidationInfo], Any]:
    """Return a validator that makes each value of free-form options a secret, except under names
    that hold no secrets.
    """

    def hide(values: Any, info: ValidationInfo) -> Any:
        if not isinstance(values, dict):
            return values
        if isinstance(info.context, RunTimeVariables):
            refuse_variables(values, frozenset(values) - frozenset(harmless), info.context.allowed)
        return {
            name: value if name in harmless else _hidden(value, info)
            for name, value in values.items()
        }

    return hide


def _hidden(value: Any, info: ValidationInfo) -> Any:
    text = _with_variable(value, info)
    return SecretStr(text) if isinstance(text, str) else text


def plain_options(options: Mapping[str, "Option"]) -> dict[str, str | int | bool]:
    """Return options with their secrets resolved, for the library that receives them."""
    return {
        name: value.get_secret_value() if isinstance(value, SecretStr) else value
        for name, value in options.items()
    }


Option: TypeAlias = str | int | bool | SecretStr
ClaimOptions: TypeAlias = Annotated[
    dict[str, Option], BeforeValidator(_options(HARMLESS_CLAIM_OPTIONS))
]
KafkaOptions: TypeAlias = Annotated[
    dict[str, Option], BeforeValidator(_options(HARMLESS_KAFKA_OPTIONS))
]
Secret: TypeAlias = Annotated[SecretStr, WrapValidator(_secret)]
