"""What LUXI tells of the cluster as a whole."""

import platform
from collections.abc import Callable, Sequence
from typing import Any

from attrs import frozen

from ganeti_tx.model.cluster_facts import cluster_facts, single_values
from ganeti_tx.model.config_data import ConfigData


def machine() -> list[str]:
    """The width of a pointer and the kind of machine of this process, such as ["64bits", "x86_64"]."""
    return [f"{platform.architecture()[0]}s", platform.machine()]


@frozen
class ClusterInfo:
    """Reads the cluster object. `watcher_pause` gives the end of the pause in seconds since the epoch, or None."""

    snapshot: Callable[[], ConfigData]
    watcher_pause: Callable[[], float | None]
    drain_flag: Callable[[], bool]
    architecture: Callable[[], list[str]] = machine

    def info(self, config: ConfigData) -> dict[str, Any]:
        """The cluster's settings with all parameters filled (Ganeti 3.0 LUXI table, QueryClusterInfo)."""
        return cluster_facts(config.cluster, master_name(config), self.architecture())

    def values(self, names: Sequence[str]) -> list[object]:
        """Some settings by name; None for a name that is unknown."""
        config = self.snapshot()
        readers: dict[str, Callable[[], object]] = {
            "cluster_name": lambda: config.cluster.cluster_name,
            "watcher_pause": self.watcher_pause,
            "master_node": lambda: master_name(config),
            "drain_flag": self.drain_flag,
        }
        settings = single_values(config.cluster)
        return [readers[name]() if name in readers else settings.get(name) for name in names]


def master_name(config: ConfigData) -> str:
    """The master's name; its uuid as long as the node is not in the configuration."""
    node = config.nodes.get(config.cluster.master_node)
    return node.name if node is not None else config.cluster.master_node
