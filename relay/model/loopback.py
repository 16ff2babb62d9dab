"""Addresses of this machine."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Return whether an address can be reached from this machine alone.

    host  an IP address or a name; of names, `localhost` alone
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
