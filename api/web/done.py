"""Holds the sentences that a page shows after an act, by the key in its address.

The address contains only the key of a sentence, so that a link on another site cannot show its own
text on the page.
"""

from collections.abc import Mapping
from typing import Final

DONE: Final[Mapping[str, str]] = {
    "mapping-rolled-back": "The contents of the older set are active again, as a new set.",
    "table-hidden": "The table is hidden from this list. Its rows are left out as before.",
    "table-unhidden": "The table is listed again as long as its rows are left out.",
    "erasure-begun": "The erasure has begun. The audit trail got an entry before it.",
    "search-forgotten": "The search is deleted, with its keys and texts.",
    "letter-sent": "The message is sent, and the dead letter is marked as sent.",
    "mapping-saved": "The set is saved. Relays use it with the next source transaction.",
    "paused": "The pause is ordered. Within a second the instance stops between two transactions.",
    "resumed": "The instance continues.",
    "throttled": "The limits are set. They take effect within a second.",
    "started": "The start is ordered. The instance continues at its committed position.",
    "retired": "The instance is removed from its topics. Mapping edits and other instances no "
    "longer wait for it.",
    "moved": "The move is ordered. It is executed within a few seconds.",
    "move-withdrawn": "The move is withdrawn. Settings and automatic balancing choose the "
    "instance's relay again.",
    "repositioned": "The position is changed. The instance continues from there.",
    "instance-saved": "The settings are saved. Relays apply them within two seconds.",
    "instance-removed": "The instance is removed. Its position stays in Kafka.",
    "skip-ordered": "The skip is ordered. The relay leaves the transaction out when it reaches it.",
    "skip-withdrawn": "The skip is withdrawn. The transaction is published like every other one.",
    "floor-raised": "The order keys are raised. The next rows get order keys above the other "
    "instance's.",
    "repartitioned": "The partitioning is changed, from the next row of the topic on.",
    "mapping-accepted": "The mapping set is accepted. The instance publishes under it.",
    "copy-started": "The copy is requested. It begins when earlier requests are done.",
    "repair-requested": "The repair is requested. It begins when earlier requests are done.",
    "restored": "The documents of the backup are written. The audit trail lists them.",
    "copy-paused": "The copy is paused. After a resume it reads the interrupted chunk again.",
    "copy-resumed": "The copy continues after the last rows that it published.",
    "copy-cancelled": "The copy is cancelled. The rows that it published remain.",
    "switch-ordered": "The switch is ordered. It happens when the other server has every published "
    "transaction.",
    "held": "Failed heartbeats cause no switch until you release the hold.",
    "released": "The hold has ended, and the ordered switch and accepted losses are withdrawn.",
    "loss-accepted": "The loss is accepted for the next switch.",
    "drained": "The server is in maintenance. Its relays hand over the instances that others can "
    "run.",
    "maintenance-ended": "The maintenance has ended. The server gets its share of the instances "
    "again.",
    "user-added": "The user was added.",
    "user-changed": "The user was changed. The change takes effect with the next request, at "
    "every admin.",
    "renamed": "The provider reports a new name for you, and this installation uses it now.",
    "token-revoked": "The token was revoked. Every admin refuses it from now on.",
    "password-changed": "Your password was changed, and your other sessions have ended.",
}
"""Key in the query parameter `done` → sentence."""
