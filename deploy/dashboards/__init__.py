"""Grafana dashboards as tables of panels, and their JSON."""

from deploy.dashboards.installation import INSTALLATION
from deploy.dashboards.instance import INSTANCE
from deploy.dashboards.panels import Dashboard, Panel, Query, to_json
from deploy.dashboards.spark import SPARK

DASHBOARDS = {
    "roma-installation.json": INSTALLATION,
    "roma-instance.json": INSTANCE,
    "roma-spark.json": SPARK,
}
"""File name → dashboard."""

__all__ = ["DASHBOARDS", "Dashboard", "Panel", "Query", "to_json"]
