"""Signing in: attempts that are counted, passwords that are verified, sessions that are opened."""

from api.access.login.desk import LoginDesk, SignedIn
from api.access.login.login_sessions import LoginSessions
from api.access.login.throttle import LoginThrottle

__all__ = ["LoginDesk", "LoginSessions", "LoginThrottle", "SignedIn"]
