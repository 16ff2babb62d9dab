from typing import Final, NamedTuple

class Id(NamedTuple):
    scheme: str
    id: str

class ACL(NamedTuple):
    perms: int
    id: Id

CREATOR_ALL_ACL: Final[list[ACL]]
OPEN_ACL_UNSAFE: Final[list[ACL]]

def make_acl(scheme: str, credential: str, *, read: bool = ..., **rights: bool) -> ACL: ...
def make_digest_acl_credential(username: str, password: str) -> str: ...
