"""Sentences that a page shows after an act, by the key that its address carries.

The address carries a key and no text: a link made by somebody else shows no text of theirs.
"""

from collections.abc import Mapping
from typing import Final

DONE: Final[Mapping[str, str]] = {
    "mapping-rolled-back": "The older set's content is in force again, as a set of its own.",
    "letter-sent": "The message is sent, and the dead letter is marked as sent.",
    "mapping-saved": "The set is saved. Relays use it with the next source transaction.",
    "paused": "The pause is ordered. The instance stops between two transactions within a second.",
    "resumed": "The instance continues.",
    "throttled": "The limits are set. They take effect within a second.",
    "started": "The instance tries again.",
    "moved": "The move is ordered. It is carried out within a few seconds.",
    "move-withdrawn": "The move is withdrawn. The instance runs where settings and balance say.",
    "repositioned": "The position is moved. The instance continues from there.",
    "mapping-accepted": "The mapping set is accepted.",
    "switch-ordered": "The switch is ordered. It happens when the server has all that was "
    "published.",
    "held": "Heartbeats alone switch nothing until you release.",
    "released": "Hold, switch and accepted losses are taken back.",
    "loss-accepted": "The loss is accepted for the next switch.",
    "drained": "The server is in maintenance. Its relays hand over what others can run.",
    "maintenance-ended": "The server takes its share again.",
    "user-added": "The user was added.",
    "user-changed": "The user was changed. It counts from the next request on, at every admin.",
    "token-revoked": "The token was revoked. Every admin refuses it from now on.",
    "password-changed": "Your password was changed, and your other sessions have ended.",
}
"""Key in the query parameter `done` → sentence."""
