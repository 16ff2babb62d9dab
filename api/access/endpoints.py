"""The one table of what each endpoint asks of its caller.

The guard enforces it before a body is read.
"""

from collections.abc import Mapping
from typing import Final

from relay.model.accounts import Right

_OPEN: Final[frozenset[Right]] = frozenset()
"""The admin's own health, and the description of the interface: no right is needed."""
_READ: Final = frozenset({Right.READ})
_EDIT: Final = frozenset({Right.EDIT})
_OPERATE: Final = frozenset({Right.OPERATE})
_ADMINISTER: Final = frozenset({Right.ADMINISTER})
_VALUES: Final = frozenset({Right.VALUES})
_OPERATE_VALUES: Final = frozenset({Right.OPERATE, Right.VALUES})
"""For acts whose answer holds keys of rows."""

_INSTANCE: Final = "/api/v1/instances/{name}"
_CONFIGS: Final = "/api/v1/configs/{group}"
_LETTERS: Final = f"{_INSTANCE}/dead-letters"

RIGHTS: Final[Mapping[str, frozenset[Right]]] = {
    "GET /": _READ,
    "GET /login": _OPEN,
    "POST /login": _OPEN,
    "GET /first-admin": _OPEN,
    "POST /first-admin": _OPEN,
    "POST /logout": _READ,
    "GET /failover": _READ,
    "POST /instances/{name}/failover/switch": _OPERATE,
    "POST /instances/{name}/failover/hold": _OPERATE,
    "POST /instances/{name}/failover/release": _OPERATE,
    "POST /instances/{name}/failover/accept-loss": _OPERATE,
    "GET /servers": _READ,
    "GET /servers/{server}/maintenance": _READ,
    "POST /servers/{server}/maintenance": _OPERATE,
    "POST /servers/{server}/end-maintenance": _OPERATE,
    "GET /instances/{name}": _READ,
    "POST /instances/{name}/pause": _OPERATE,
    "POST /instances/{name}/resume": _OPERATE,
    "POST /instances/{name}/throttle": _OPERATE,
    "POST /instances/{name}/start": _OPERATE,
    "POST /instances/{name}/move": _OPERATE,
    "POST /instances/{name}/withdraw-move": _OPERATE,
    "POST /instances/{name}/accept-mapping": _OPERATE,
    "GET /instances/{name}/reposition": _READ,
    "POST /instances/{name}/reposition": _OPERATE,
    "GET /users": _READ,
    "POST /users": _ADMINISTER,
    "POST /users/tokens": _ADMINISTER,
    "POST /users/tokens/revoke": _ADMINISTER,
    "POST /users/me/password": _READ,
    "POST /users/me/sign-out": _READ,
    "GET /docs": _OPEN,
    "GET /redoc": _OPEN,
    "GET /openapi.json": _OPEN,
    "GET /healthz": _OPEN,
    "GET /readyz": _OPEN,
    "GET /metrics": _OPEN,
    "POST /api/v1/session": _OPEN,
    "GET /api/v1/session": _READ,
    "DELETE /api/v1/session": _READ,
    "PUT /api/v1/session/password": _READ,
    "GET /api/v1/users": _ADMINISTER,
    "PUT /api/v1/users/{name}": _ADMINISTER,
    "GET /api/v1/tokens": _ADMINISTER,
    "PUT /api/v1/tokens/{name}": _ADMINISTER,
    "DELETE /api/v1/tokens/{name}": _ADMINISTER,
    f"GET {_CONFIGS}": _READ,
    f"PUT {_CONFIGS}": _EDIT,
    f"GET {_CONFIGS}/{{data_id}}": _READ,
    f"PUT {_CONFIGS}/{{data_id}}": _EDIT,
    f"GET {_CONFIGS}/{{data_id}}/history": _READ,
    f"GET {_CONFIGS}/{{data_id}}/history/{{version}}": _READ,
    "POST /api/v1/mappings/dry-run": _READ,
    "GET /api/v1/mappings/logical": _READ,
    "GET /mappings": _READ,
    "GET /mappings/edit": _READ,
    "POST /mappings/edit": _EDIT,
    "POST /mappings/import": _EDIT,
    "GET /mappings/export": _READ,
    "POST /mappings/dry-run": _READ,
    "POST /mappings/apply": _EDIT,
    "POST /mappings/save": _EDIT,
    "GET /mappings/history": _READ,
    "POST /mappings/rollback": _EDIT,
    "GET /mappings/unmapped": _READ,
    "GET /routes": _READ,
    "GET /audit": _READ,
    "GET /dead-letters": _VALUES,
    "GET /dead-letters/{instance}/{letter}": _VALUES,
    "POST /dead-letters/{instance}/{letter}/replay": _OPERATE_VALUES,
    "GET /api/v1/dead-letters": _VALUES,
    "GET /api/v1/mappings/sets": _READ,
    "GET /api/v1/mappings/sets/{number}": _READ,
    "GET /api/v1/mappings/sets/{number}/changes": _READ,
    "POST /api/v1/mappings/rollback": _EDIT,
    "GET /api/v1/events": _READ,
    "GET /api/v1/route": _READ,
    "GET /api/v1/topics": _READ,
    "GET /api/v1/topics/{topic}": _READ,
    "GET /api/v1/route/reverse": _READ,
    "GET /api/v1/unmapped": _READ,
    "GET /api/v1/instances": _READ,
    f"GET {_INSTANCE}": _READ,
    f"GET {_INSTANCE}/series": _READ,
    f"GET {_INSTANCE}/states": _READ,
    "GET /api/v1/series": _READ,
    "GET /api/v1/needs-you": _READ,
    f"GET {_INSTANCE}/dropped": _READ,
    f"GET {_INSTANCE}/settings": _READ,
    f"PUT {_INSTANCE}/settings": _ADMINISTER,
    f"DELETE {_INSTANCE}/settings": _ADMINISTER,
    f"GET {_INSTANCE}/failover": _READ,
    f"POST {_INSTANCE}/failover/switch": _OPERATE,
    f"POST {_INSTANCE}/failover/hold": _OPERATE,
    f"POST {_INSTANCE}/failover/release": _OPERATE,
    f"POST {_INSTANCE}/failover/accept-loss": _OPERATE,
    f"GET {_LETTERS}": _VALUES,
    f"GET {_LETTERS}/{{letter}}": _VALUES,
    f"GET {_LETTERS}/{{letter}}/value": _VALUES,
    f"POST {_LETTERS}/{{letter}}/replay": _OPERATE_VALUES,
    f"GET {_INSTANCE}/flow": _READ,
    f"PUT {_INSTANCE}/flow": _OPERATE,
    f"POST {_INSTANCE}/pause": _OPERATE,
    f"POST {_INSTANCE}/resume": _OPERATE,
    f"POST {_INSTANCE}/start": _OPERATE,
    f"GET {_INSTANCE}/mapping": _READ,
    f"POST {_INSTANCE}/mapping/accept": _OPERATE,
    f"GET {_INSTANCE}/position": _READ,
    f"GET {_INSTANCE}/position/search": _READ,
    f"POST {_INSTANCE}/position": _OPERATE,
    f"POST {_INSTANCE}/position/preview": _READ,
    f"POST {_INSTANCE}/position/skip": _OPERATE,
    f"POST {_INSTANCE}/position/raise-floor": _OPERATE,
    f"POST {_INSTANCE}/position/repartition": _OPERATE,
    f"POST {_INSTANCE}/position/repartition/preview": _READ,
    "GET /api/v1/relays": _READ,
    "GET /api/v1/placement": _READ,
    "PUT /api/v1/placement/moves/{instance}": _OPERATE,
    "DELETE /api/v1/placement/moves/{instance}": _OPERATE,
    "PUT /api/v1/placement/maintenance/{server}": _OPERATE,
    "POST /api/v1/placement/maintenance/{server}/preview": _READ,
    "GET /api/v1/failover": _READ,
    "DELETE /api/v1/placement/maintenance/{server}": _OPERATE,
    "GET /api/v1/audit": _READ,
}
"""Method and path template → the rights that the caller must all hold."""


def rights_needed(method: str, path: str) -> frozenset[Right]:
    """Return what an endpoint asks for; `path` is its template.

    Raises KeyError for an endpoint that the table lacks.
    """
    return RIGHTS[f"{'GET' if method == 'HEAD' else method} {path}"]
