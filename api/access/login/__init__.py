"""Signs users in with a password: counts attempts, verifies passwords, opens sessions."""

from api.access.login.desk import LoginDesk, SignedIn
from api.access.login.login_sessions import LoginSessions
from api.access.login.throttle import LoginThrottle

__all__ = ["LoginDesk", "LoginSessions", "LoginThrottle", "SignedIn"]
