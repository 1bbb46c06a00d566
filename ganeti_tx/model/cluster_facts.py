"""What is told of the cluster as a whole: its settings with all parameters filled."""

from collections.abc import Iterable
from typing import Any

from ganeti_tx.model import versions
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.settings.rules import SETTINGS
from ganeti_tx.model.settings.setting import Setting

#: What goes out of the rest of the cluster object as it is stored.
AS_STORED = ("ctime", "mtime", "uuid", "tags")


def cluster_facts(cluster: Cluster, master_name: str, architecture: list[str]) -> dict[str, Any]:
    """The cluster as clients know it (Ganeti 3.0 LUXI table, QueryClusterInfo), with all that can be set."""
    return {
        "software_version": versions.RELEASE_VERSION,
        "protocol_version": versions.PROTOCOL_VERSION,
        "config_version": versions.CONFIG_VERSION,
        "os_api_version": versions.OS_API_VERSION,
        "export_version": versions.EXPORT_VERSION,
        "vcs_version": versions.VCS_VERSION,
        "architecture": architecture,
        "master": master_name,
        "name": cluster.cluster_name,
        **{name: getattr(cluster, name) for name in AS_STORED},
        **facts_of(cluster, SETTINGS),
    }


def facts_of(cluster: Cluster, settings: Iterable[Setting]) -> dict[str, Any]:
    """What is told of the settings."""
    return {
        fact.name: held if fact.read is None else fact.read(held)
        for setting in settings
        for held in [getattr(cluster, setting.name)]
        for fact in setting.facts
    }


def single_values(cluster: Cluster, settings: Iterable[Setting] = SETTINGS) -> dict[str, Any]:
    """The settings that can be asked for one by one (Ganeti 3.0 LUXI table, QueryConfigValues)."""
    return {setting.name: getattr(cluster, setting.name) for setting in settings if setting.single}
