"""Bodies of requests and answers about a user's session."""

from pydantic import BaseModel, ConfigDict, Field

from api.access import Caller
from api.access.cookies import form_token
from relay.model.accounts import Right


class SignIn(BaseModel):
    """Name and password of a user."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "ann", "password": "correct horse battery"}]}
    )

    name: str = Field(max_length=200)
    password: str = Field(max_length=1000)


class SessionView(BaseModel):
    """The caller of the request, and its rights."""

    name: str = Field(description="Empty for a caller without a session and without a token.")
    rights: list[Right]
    ends_ms: int | None = Field(
        description="Unix milliseconds; the user must sign in again then. Null without a session."
    )
    csrf: str = Field(
        description=(
            "Requests with the session's cookie that change something carry it as X-CSRF-Token. "
            "Empty without a session."
        )
    )

    @classmethod
    def of(cls, caller: Caller) -> "SessionView":
        """Return the view of a caller: name, role and rights."""
        session = caller.session
        return cls(
            name=caller.name,
            rights=sorted(caller.rights),
            ends_ms=None if session is None else session.ends_ms,
            csrf="" if session is None else form_token(session.secret),
        )
