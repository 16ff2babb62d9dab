"""Remedies for instances that are defined at run time, which no configuration file names."""

from relay.errors import ConfigurationError, RelayError, Stop


def remedy_at_run_time(error: RelayError, instance: str) -> str:
    """Return the error's remedy in the words of an instance whose settings are a document in
    ZooKeeper.
    """
    address = f"PUT /api/v1/instances/{instance}/settings"
    if error.way_out == ConfigurationError.remedy:
        return f"Correct its settings ({address}); relays use them at once."
    if not isinstance(error, Stop | ConfigurationError):
        return error.way_out
    return (
        f"{error.way_out} Its settings are changed by {address}; `roma instance start {instance}` "
        f"starts it again unchanged."
    )
