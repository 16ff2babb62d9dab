"""Who may do what through the admin: roles and rights, without I/O."""

from relay.model.accounts.roles import Right, Role, rights_of

__all__ = ["Right", "Role", "rights_of"]
