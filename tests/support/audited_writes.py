"""For each write of the admin and of the commands, the act that it must write to the audit
trail.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Proved:
    """The act of a write that another test executes and finds in the audit trail."""

    act: str
    by: str


_POSITION: Final = "tests/e2e/operating/test_position_by_hand.py"
_POSITION_PAGE: Final = "tests/integration/api/pages/test_position_page.py"
_LETTERS: Final = "tests/integration/api/pages/test_audit_and_letters.py"
_MAPPING_LOST: Final = "tests/e2e/operating/test_mapping_lost.py"
_REPARTITION: Final = "tests/e2e/operating/test_repartition.py"
_COMMANDS: Final = "tests/integration/api/test_mapping_commands.py"
_PLACEMENT: Final = "tests/integration/api/test_api_placement.py"
_ERASE: Final = "tests/integration/kafka/test_erase.py"
_MOVED: Final = "tests/e2e/client/test_returning_table.py"
_BACKUP: Final = "tests/integration/api/pages/test_backup_page.py"
_PEEK: Final = "tests/integration/api/topics/test_peek.py"
_RECORDS: Final = "tests/integration/kafka/test_position_writes.py"

ENDPOINTS_PROVED_ELSEWHERE: Final[Mapping[str, Proved]] = {
    "POST /peek": Proved("table.peeked", _PEEK),
    "POST /api/v1/peek": Proved("table.peeked", _PEEK),
    "POST /backup/restore": Proved("restore", _BACKUP),
    "POST /api/v1/backup/restore": Proved("restore", _BACKUP),
    "POST /backup/take": Proved("backup.taken", _BACKUP),
    "POST /api/v1/backup": Proved("backup.taken", _BACKUP),
    "POST /first-admin": Proved("user.added", "tests/integration/api/test_first_start.py"),
    "POST /instances/{name}/accept-mapping": Proved("mapping.accept", _MAPPING_LOST),
    "POST /api/v1/instances/{name}/mapping/accept": Proved("mapping.accept", _MAPPING_LOST),
    "POST /instances/{name}/reposition": Proved("position.set", _POSITION),
    "POST /api/v1/instances/{name}/position": Proved("position.set", _POSITION),
    "POST /api/v1/instances/{name}/position/skip": Proved("transaction.skip", _RECORDS),
    "POST /api/v1/instances/{name}/position/raise-floor": Proved("position.raise-floor", _RECORDS),
    "POST /api/v1/instances/{name}/position/repartition": Proved(
        "position.repartition", _REPARTITION
    ),
    "POST /instances/{name}/position/skip": Proved("transaction.skip", _POSITION_PAGE),
    "POST /instances/{name}/position/unskip": Proved("transaction.unskip", _POSITION_PAGE),
    "POST /instances/{name}/position/raise-floor": Proved("position.raise-floor", _POSITION_PAGE),
    "POST /instances/{name}/position/repartition": Proved("position.repartition", _POSITION_PAGE),
    "POST /api/v1/instances/{name}/retire": Proved("instance.retired", _MOVED),
    "POST /instances/{name}/retire": Proved(
        "instance.retired", "tests/integration/api/pages/test_retire_page.py"
    ),
    "POST /erase/{number}/erase": Proved("person.erased", _ERASE),
    "POST /api/v1/erasures/{number}/erase": Proved("person.erased", _ERASE),
    "POST /dead-letters/{instance}/{letter}/replay": Proved("dead-letter.replay", _LETTERS),
    "POST /api/v1/instances/{name}/dead-letters/{letter}/replay": Proved(
        "dead-letter.replay", _LETTERS
    ),
}
"""Writes that need a source, a position record or a link of the first start."""

ENDPOINTS_WITHOUT_EFFECT: Final = frozenset(
    {
        "POST /api/v1/mappings/dry-run",
        "POST /api/v1/mappings/merge",
        "POST /api/v1/mappings/rollback/preview",
        "POST /api/v1/snapshots/preview",
        "POST /api/v1/instances/{name}/position/skip/preview",
        "POST /api/v1/instances/{name}/position/raise-floor/preview",
        "POST /mappings/edit",
        "POST /erase",
        "POST /erase/{number}/forget",
        "POST /api/v1/erasures",
        "DELETE /api/v1/erasures/{number}",
        "POST /mappings/import",
        "POST /mappings/dry-run",
        "POST /instances/{name}/copies/preview",
        "POST /instances/{name}/repair/preview",
        "POST /instances/{name}/preflight",
        "POST /api/v1/instances/{name}/preflight",
        "POST /api/v1/snapshots/repair/preview",
        "POST /backup/preview",
        "POST /api/v1/backup/restore/preview",
        "POST /mappings/apply",
        "POST /api/v1/instances/{name}/position/preview",
        "POST /api/v1/instances/{name}/position/repartition/preview",
        "POST /api/v1/placement/maintenance/{server}/preview",
    }
)
"""Reads in the form of a POST: they return what a write would do, or fill a form."""

COMMANDS_PROVED: Final[Mapping[str, tuple[Proved, ...]]] = {
    "peek": (Proved("table.peeked", "tests/integration/api/topics/test_peek_command.py"),),
    "erase": (Proved("person.erased", _ERASE),),
    "restore": (Proved("restore", "tests/e2e/operating/test_backup.py"),),
    "instance retire": (Proved("instance.retired", _MOVED),),
    "mapping accept": (Proved("mapping.accept", _MAPPING_LOST),),
    "mapping save": (Proved("mapping.saved", _COMMANDS),),
    "mapping rollback": (Proved("mapping.rolled-back", _COMMANDS),),
    "mapping edit": (Proved("mapping.saved", _COMMANDS),),
    "dead-letter replay": (Proved("dead-letter.replay", "tests/e2e/delivery/test_oversize.py"),),
    "placement move": (Proved("instance.moved", _PLACEMENT),),
    "placement withdraw": (Proved("move.withdrawn", _PLACEMENT),),
    "placement drain": (Proved("maintenance.begun", _PLACEMENT),),
    "placement resume": (Proved("maintenance.ended", _PLACEMENT),),
    "position set": (Proved("position.set", _POSITION),),
    "position raise-floor": (Proved("position.raise-floor", _RECORDS),),
    "position repartition": (Proved("position.repartition", _REPARTITION),),
    "position skip": (Proved("transaction.skip", _RECORDS),),
    "zookeeper protect": (
        Proved("zookeeper.protect", "tests/integration/zookeeper/test_zk_access.py"),
    ),
}
"""Commands whose entries other tests check."""

COMMANDS_WITHOUT_EFFECT: Final = frozenset(
    {
        *("backup", "preflight", "status", "relay", "api", "canal-server"),
        *("bootstrap", "reconcile", "dedup stream", "dedup batch"),
        *("mapping check", "mapping show", "mapping history", "mapping diff"),
        *("tokens list", "users list", "snapshot list", "audit export", "audit verify"),
        *("binlog show", "binlog verify", "dead-letter list", "dead-letter show"),
        *("placement show", "position decode", "position show", "position search"),
        *("zookeeper show", "zookeeper identity"),
    }
)
"""Commands that read, start a process, or write copies outside of the installation."""
