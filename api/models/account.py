"""Bodies of requests and answers about users and tokens."""

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from relay.model.accounts import ApiToken, Grant, Role, User


class UserView(BaseModel):
    """A user, without the hash of the password."""

    name: str
    role: Role
    values: bool = Field(description="May read keys and values of rows.")
    disabled: bool
    has_password: bool = Field(description="Can sign in to the pages.")
    created_ms: int

    @classmethod
    def of(cls, user: User) -> "UserView":
        """Return the view of a user."""
        return cls(
            name=user.name,
            role=user.grant.role,
            values=user.grant.values,
            disabled=user.disabled,
            has_password=bool(user.password),
            created_ms=user.created_ms,
        )


class UserRequest(BaseModel):
    """The requested state of a new or an existing user."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"role": "operator", "values": False}]}
    )

    role: Role
    values: bool = False
    disabled: bool = False
    password: SecretStr | None = Field(
        default=None, description="A new password. Null: the present one stays."
    )


class TokenView(BaseModel):
    """A token, without its secret or hash."""

    name: str
    owner: str
    role: Role
    values: bool
    last_four: str
    created_ms: int
    expires_ms: int = Field(description="Unix milliseconds; 0: never.")

    @classmethod
    def of(cls, token: ApiToken) -> "TokenView":
        """Return the view of a token."""
        return cls(
            name=token.name,
            owner=token.owner,
            role=token.grant.role,
            values=token.grant.values,
            last_four=token.last_four,
            created_ms=token.created_ms,
            expires_ms=token.expires_ms,
        )


class TokenRequest(BaseModel):
    """The properties of a new token."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"owner": "ann", "role": "viewer"}]}
    )

    owner: str = Field(description="Its user. The token never gives more rights than the user has.")
    role: Role
    values: bool = False
    days: int = Field(
        default=90, ge=0, le=3650, description="Days until it expires; 0: it never expires."
    )

    @property
    def grant(self) -> Grant:
        """The rights that the new token gets."""
        return Grant(self.role, self.values)


class NewTokenView(TokenView):
    """A new token with its secret, which is shown once."""

    token: str = Field(description="The secret. It is not shown again.")


class PasswordRequest(BaseModel):
    """The caller's present password and the new one."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"present": "correct horse battery", "wanted": "staple correct horse"},
            ]
        }
    )

    present: SecretStr = Field(max_length=1000)
    wanted: SecretStr = Field(max_length=1000)
