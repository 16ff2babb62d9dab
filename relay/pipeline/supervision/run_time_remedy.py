"""Adapts remedies to instances that are defined in ZooKeeper, which no configuration file names."""

from relay.errors import ConfigurationError, RelayError, Stop


def remedy_at_run_time(error: RelayError, instance: str) -> str:
    """Return the error's remedy for an instance whose settings are a document in ZooKeeper: it
    names the API call that changes them.
    """
    address = f"PUT /api/v1/instances/{instance}/settings"
    if error.way_out == ConfigurationError.remedy:
        return f"Correct the settings of the instance ({address}); relays apply them at once."
    if not isinstance(error, Stop | ConfigurationError):
        return error.way_out
    return (
        f"{error.way_out} To change its settings: {address}. To start it again without a "
        f"change: `roma instance start {instance}`."
    )
