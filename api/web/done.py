"""Sentences that a page shows after an act, by the key in its address.

The address contains a key and no text, so that a foreign link cannot show its own text.
"""

from collections.abc import Mapping
from typing import Final

DONE: Final[Mapping[str, str]] = {
    "mapping-rolled-back": "The contents of the older set are active again, as a new set.",
    "table-hidden": "The table is hidden from this list. Its rows are left out as before.",
    "table-unhidden": "The table is listed again while its rows are filtered.",
    "erasure-begun": "The erasure has begun. An entry of the audit trail was written first.",
    "search-forgotten": "The search is deleted, with its keys and texts.",
    "letter-sent": "The message is sent, and the dead letter is marked as sent.",
    "mapping-saved": "The set is saved. Relays use it with the next source transaction.",
    "paused": "The pause is ordered. The instance stops between two transactions within a second.",
    "resumed": "The instance continues.",
    "throttled": "The limits are set. They take effect within a second.",
    "started": "The instance begins again at its committed position.",
    "retired": "The instance is removed from its topics. Nothing waits for it any more.",
    "moved": "The move is ordered. It is executed within a few seconds.",
    "move-withdrawn": "The move is withdrawn. Settings and balance choose its relay again.",
    "repositioned": "The position is moved. The instance continues from there.",
    "instance-saved": "The settings are saved. Relays apply them within two seconds.",
    "instance-removed": "The instance is removed. Its position stays in Kafka.",
    "skip-ordered": "The transaction is left out when the relay reaches it.",
    "skip-withdrawn": "The transaction is published like every other one.",
    "floor-raised": "The order keys are raised. The next rows are above the other instance's.",
    "repartitioned": "From the next row on, rows of the topic go to partitions as requested.",
    "mapping-accepted": "The mapping set is accepted.",
    "copy-started": "The copy is requested. It begins after earlier requests.",
    "repair-requested": "The rows are published again after earlier requests.",
    "restored": "The documents of the backup are written. The audit trail names what changed.",
    "copy-paused": "The copy waits. The chunk that was being read is dropped.",
    "copy-resumed": "The copy continues after its last published rows.",
    "copy-cancelled": "The copy has ended. What it published stays.",
    "switch-ordered": "The switch is ordered. It happens when the server has all that was "
    "published.",
    "held": "Failed heartbeats cause no switch until you release the hold.",
    "released": "Hold, switch and accepted losses are taken back.",
    "loss-accepted": "The loss is accepted for the next switch.",
    "drained": "The server is in maintenance. Its relays hand over what others can run.",
    "maintenance-ended": "The server runs its share of the instances again.",
    "user-added": "The user was added.",
    "user-changed": "The user was changed. It counts from the next request on, at every admin.",
    "renamed": "The provider calls you by another name now, and so does this installation.",
    "token-revoked": "The token was revoked. Every admin refuses it from now on.",
    "password-changed": "Your password was changed, and your other sessions have ended.",
}
"""Key in the query parameter `done` → sentence."""
