"""Signs users in by an OpenID Connect provider: authorization code flow, PKCE, state and nonce."""

from api.access.provider.attempt import Attempt
from api.access.provider.client import ProviderClient
from api.access.provider.desk import ProviderDesk

__all__ = ["Attempt", "ProviderClient", "ProviderDesk"]
