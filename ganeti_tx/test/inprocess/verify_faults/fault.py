"""What a fault is: what somebody, or something, does to a cluster, and what is said of it then."""

from collections.abc import Callable
from typing import Any

from attrs import frozen
from msgspec.structs import replace

from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.node import Node
from ganeti_tx.model.verify_codes import VerifyCode
from ganeti_tx.test.inprocess.case import scene_of
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.test_mirrored import with_mirrored_instance
from ganeti_tx.test.logic.stage import INSTANCE

Prepare = Callable[[ConfigData], ConfigData]
ADD = "gnt-instance add -t file -s 1G -o noop -n node2 --no-wait-for-sync web1"


@frozen
class ClusterFault:
    """What is done, to the configuration that a cluster begins with or to the cluster that runs, and a part of what is said.

    @ivar what: for people. @ivar warning: the cluster works on with it.
    """

    code: VerifyCode
    what: str
    said: str
    do: Callable[[InProcessCluster], object] = lambda cluster: None
    prepare: Prepare = lambda config: config
    warning: bool = False


def run(cluster: InProcessCluster, *lines: str) -> None:
    """Commands that succeed."""
    for line in lines:
        scene_of(cluster).ok(line)


def cluster_with(**settings: Any) -> Prepare:
    """A cluster with other settings than the rules allow, or than a command would give it."""
    return lambda config: replace(config, cluster=replace(config.cluster, **settings))


def node_named(config: ConfigData, number: int) -> Node:
    """The node with a number in its name."""
    return next(each for each in config.nodes.values() if each.name.startswith(f"node{number}."))


def node_with(number: int, **fields: Any) -> Prepare:
    """One node is different."""

    def prepare(config: ConfigData) -> ConfigData:
        node = node_named(config, number)
        return replace(config, nodes={**config.nodes, node.uuid: replace(node, **fields)})

    return prepare


def mirrored(*more: Prepare, **fields: Any) -> Prepare:
    """There is a mirrored instance on the second and third node, with some fields of its own."""

    def prepare(config: ConfigData) -> ConfigData:
        config = with_mirrored_instance(config)
        config = replace(config, instances={INSTANCE.uuid: replace(config.instances[INSTANCE.uuid], **fields)})
        for each in more:
            config = each(config)
        return config

    return prepare
