"""Errors of a sign-in by a provider.

ApiError
├── ProviderAway            503
├── ProviderUnusable        502
├── ProviderTokenRefused    403
├── AttemptUnknown          403
├── ProviderDenied          403
└── ProviderUserRefused     403
    └── ProviderRoleMissing 403
"""

from http import HTTPStatus

from api.errors import ApiError


class ProviderAway(ApiError):
    """The provider does not answer, or answers with a server error."""

    code = "OIDC_PROVIDER_AWAY"
    remedy = (
        "Sign in again when the provider answers. Until then users with a password sign in with "
        "it, and tokens work."
    )
    status = HTTPStatus.SERVICE_UNAVAILABLE


class ProviderUnusable(ApiError):
    """The provider names another issuer or an unsafe URL, or its keys cannot be read."""

    code = "OIDC_PROVIDER_UNUSABLE"
    remedy = "Compare api.oidc.issuer with the issuer in the provider's own discovery document."
    status = HTTPStatus.BAD_GATEWAY


class ProviderTokenRefused(ApiError):
    """The provider gave no ID token for this sign-in, or one that is not valid for it."""

    code = "OIDC_TOKEN_REFUSED"
    remedy = (
        "Sign in again. If it happens each time, compare api.oidc.client_id, client_secret and "
        "issuer with the provider's settings, and the clocks of both."
    )
    status = HTTPStatus.FORBIDDEN


class AttemptUnknown(ApiError):
    """The provider's answer belongs to no sign-in that this browser has open."""

    code = "OIDC_ATTEMPT_UNKNOWN"
    remedy = "Sign in again, in one tab, and let the browser keep cookies."
    status = HTTPStatus.FORBIDDEN


class ProviderDenied(ApiError):
    """The provider, or the user there, refused the sign-in."""

    code = "OIDC_DENIED"
    remedy = "Sign in again, or ask the administrators of the provider for access to this admin."
    status = HTTPStatus.FORBIDDEN


class ProviderUserRefused(ApiError):
    """The provider identified the user, but the user must not sign in to this installation."""

    code = "OIDC_USER_REFUSED"
    remedy = (
        "Ask an administrator of this installation. The setting api.oidc.name_claim names the "
        "claim that has the user's name."
    )
    status = HTTPStatus.FORBIDDEN


class ProviderRoleMissing(ProviderUserRefused):
    """None of the user's claims gives a role. Sessions that the user had have ended."""

    code = "OIDC_ROLE_MISSING"
    remedy = (
        "Ask the administrators of the provider for one of the groups or roles that api.oidc.roles "
        "names, then sign in again."
    )
