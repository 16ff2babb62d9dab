"""Creates the parts of the admin that identify callers and their rights."""

from dataclasses import dataclass
from functools import partial

from api.access import Gate
from api.access.exposure import reads_need_a_caller
from api.access.login import LoginDesk, LoginSessions, LoginThrottle
from api.access.login.attempt_notes import AttemptNotes
from api.access.login.first_admin import FirstAdminLink
from api.access.provider import ProviderClient, ProviderDesk
from api.access.trusted_header import TrustedHeader
from api.composition.shared import Shared
from api.services.accounts import AccountDesk
from relay.model.accounts import Accounts
from relay.operations import AccountEditor
from relay.state import AccountStore, LoginSessionStore
from relay.zk import Session


@dataclass(frozen=True, slots=True)
class AccessParts:
    """The services for sign-in, sessions, users and tokens.

    gate            admits a request with a token or a session, or refuses it
    login           signs users in by password, and out
    provider        signs users in at an OpenID provider; None without `api.oidc`
    trusted_header  reads the user that a proxy names; None without `api.trusted_header`
    accounts        reads and changes users and tokens
    first_admin     the link by which the first user is added
    """

    gate: Gate
    login: LoginDesk
    provider: ProviderDesk | None
    trusted_header: TrustedHeader | None
    accounts: AccountDesk
    first_admin: FirstAdminLink

    @classmethod
    def of(cls, shared: Shared) -> "AccessParts":
        """Construct the parts; nothing is read yet."""
        api = shared.settings.api
        accounts = partial(_accounts, shared.session, AccountStore(shared.session, shared.paths))
        sessions = LoginSessions(
            LoginSessionStore(shared.session, shared.paths),
            api.session_seconds,
            api.session_idle_seconds,
            api.oidc.issuer if api.oidc else "",
        )
        notes = AttemptNotes(shared.acts)
        login = LoginDesk(accounts, sessions, LoginThrottle(), notes)
        header = api.trusted_header
        return cls(
            gate=Gate(api.token, accounts, sessions.caller, always_ask=reads_need_a_caller(api)),
            login=login,
            provider=_provider(shared, sessions, notes),
            trusted_header=None if header is None else TrustedHeader(header, notes),
            accounts=AccountDesk(_editor(shared, ""), login),
            first_admin=FirstAdminLink(),
        )


def _provider(shared: Shared, sessions: LoginSessions, notes: AttemptNotes) -> ProviderDesk | None:
    oidc = shared.settings.api.oidc
    if oidc is None:
        return None
    editor = _editor(shared, f"provider {oidc.issuer}")
    return ProviderDesk(oidc, ProviderClient(oidc), editor, sessions, notes)


def _editor(shared: Shared, through: str) -> AccountEditor:
    return AccountEditor(shared.settings, shared.session, shared.acts, through)


def _accounts(session: Session, store: AccountStore) -> Accounts:
    """Return users and tokens.

    While ZooKeeper is unavailable no thread waits for it; otherwise anonymous requests could occupy
    all threads.
    """
    if not session.connected:
        raise session.unreachable()
    return store.read()
