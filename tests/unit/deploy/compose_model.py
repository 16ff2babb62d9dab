"""The part of the Compose Specification that docker-compose.yml uses, as models: whatever is not
named here is an error.
"""

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

Duration: TypeAlias = Annotated[str, Field(pattern=r"^([0-9]+(h|m|s|ms))+$")]
Scalar: TypeAlias = str | int


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Healthcheck(_Part):
    test: Annotated[list[str], Field(min_length=2)]
    interval: Duration
    timeout: Duration
    retries: Annotated[int, Field(ge=1)]
    start_period: Duration


class Dependency(_Part):
    condition: Literal["service_started", "service_healthy", "service_completed_successfully"]


class Build(_Part):
    context: str
    dockerfile: str


class Service(_Part):
    image: Annotated[str, Field(pattern=r"^[a-z0-9./-]+:[0-9]+\.[0-9]+\.[0-9]+$")]
    build: Build | None = None
    restart: Literal["no", "always", "on-failure", "unless-stopped"]
    entrypoint: list[str] | None = None
    command: list[str] | None = None
    environment: dict[str, Scalar] = {}
    ports: list[Annotated[str, Field(pattern=r"^127\.0\.0\.1:[0-9]+(-[0-9]+)?:[0-9]+$")]] = []
    volumes: list[
        Annotated[str, Field(pattern=r"^(\./)?[a-z][A-Za-z0-9_./-]*:/[A-Za-z0-9_./-]+(:ro)?$")]
    ] = []
    depends_on: dict[str, Dependency] = {}
    healthcheck: Healthcheck | None = None
    read_only: bool = False
    tmpfs: list[str] = []
    cap_drop: list[str] = []
    security_opt: list[str] = []
    stop_grace_period: Duration | None = None


class Compose(_Part):
    model_config = ConfigDict(extra="ignore")  # x-… are anchors; the test looks at the other keys

    name: str
    services: dict[str, Service]
    volumes: dict[str, None]
