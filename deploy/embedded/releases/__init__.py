"""Servers of further releases, fetched by name: `make servers` runs the relay on each of them."""

from deploy.embedded.releases.debian_mariadb import MariaDB105, MariaDB118
from deploy.embedded.releases.maven_mariadb import MariaDB101, MariaDB102
from deploy.embedded.releases.mysql_5_5 import MySQL55
from deploy.embedded.releases.mysql_releases import MySQL57, MySQL8012, MySQL8031, MySQL8033

__all__ = [
    "MariaDB101",
    "MariaDB102",
    "MariaDB105",
    "MariaDB118",
    "MySQL55",
    "MySQL57",
    "MySQL8012",
    "MySQL8031",
    "MySQL8033",
]
