"""Whether what is saved of an instance fits together: pure judgement, shared by the relay and its preflight."""

from relay.errors import PositionLost
from relay.model.position_record import PositionRecord
from relay.state import StartNote


def position_lost(instance: str, topic: str, noted: StartNote | None, record: PositionRecord | None) -> PositionLost | None:
    """Say whether the instance has a past, by its note, and no record of it: a fresh start would then be a guess."""
    if record is not None or noted is None:
        return None
    return PositionLost(f"Instance {instance} started at {noted.file}:{noted.offset}, and {topic} has no record.")
