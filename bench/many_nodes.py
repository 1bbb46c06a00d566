"""One process that answers node calls as many nodes; some of them take calls and say nothing.

`many_nodes.py ROOT SILENT`: as all nodes of the configuration below the master's root but the master itself, the last SILENT of
them silent. It writes a line when it listens.
"""

import sys
from collections.abc import Coroutine, Iterable
from pathlib import Path
from typing import Any

from attrs import frozen
from twisted.internet import reactor as installed
from twisted.internet.defer import Deferred

from ganeti_tx.bootstrap.keys import utc_now
from ganeti_tx.model.config_data import ConfigData, decode
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.node import Node
from ganeti_tx.model.node_port import NODE_PORT
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.node.answers import answers
from ganeti_tx.node.dispatch import NodeDispatch
from ganeti_tx.node.http import NodeSite
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevStates, DiskState
from ganeti_tx.rpc.calls.instance import AllInstancesInfo, RunningInstance
from ganeti_tx.rpc.calls.node import NodeFacts, NodeInfo, StorageSpace
from ganeti_tx.rpc.calls.os import OsDiagnose, OsReport
from ganeti_tx.runtime.certificates import Identity, issue_server
from ganeti_tx.runtime.cluster_authority import signing_authority
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.tls import server_options

READY = b"ready\n"
MEMORY = {"memory_total": 131072, "memory_free": 65536, "memory_dom0": 2048}
PROCESSORS = {"cpu_total": 64, "cpu_nodes": 2, "cpu_sockets": 2, "cpu_dom0": 64}
OS = OsReport("busybox", "/srv/ganeti/os/busybox", True, "", ["default"], [], [20])


@frozen
class OneNode:
    """What a healthy node says: all that should run on it does."""

    running: dict[str, RunningInstance]

    @answers(AllInstancesInfo)
    async def instances(self, call: AllInstancesInfo) -> dict[str, RunningInstance]:
        """What runs."""
        return self.running

    @answers(NodeInfo)
    async def info(self, call: NodeInfo) -> NodeFacts:
        """Memory, processors and room."""
        storage = [StorageSpace(unit.type, unit.name, 1048576, 524288) for unit in call.storage_units]
        facts = {hypervisor: {**MEMORY, **PROCESSORS} for hypervisor in call.hypervisors}
        return NodeFacts("00000000-0000-4000-8000-000000000000", storage, facts)

    @answers(OsDiagnose)
    async def oses(self, call: OsDiagnose) -> list[OsReport]:
        """One."""
        return [OS]

    @answers(BlockdevStates)
    async def disks(self, call: BlockdevStates) -> list[DiskState]:
        """They are there."""
        return [DiskState(BlockDevStatus(dev_path=f"/dev/{each.uuid}", size=each.size)) for each in call.disks]


class SilentDispatch(NodeDispatch):
    """Takes every call, and answers none."""

    def perform(self, call: NodeCall[object], *more: Any) -> Coroutine[Any, Any, Any]:
        """Wait for ever."""
        return never()


async def never() -> None:
    """Until the caller hangs up, and longer."""
    await Deferred()


def one_node(config: ConfigData, node: Node) -> OneNode:
    """A node of the configuration."""
    here = (each for each in config.instances.values() if each.primary_node == node.uuid)
    return OneNode({each.name: RunningInstance(1024, 1, 0, 60.0) for each in here if each.admin_state is AdminState.UP})


def certificate(paths: Paths, nodes: Iterable[Node]) -> Identity:
    """One for all of them."""
    authority = paths.authority_pem.read_bytes()
    signing = signing_authority(authority, paths.authority_key.read_bytes(), "ca.key")
    return issue_server(signing, [node.primary_ip for node in nodes], utc_now())


def main(root: str, silent: str) -> None:
    """Listen until the process is ended."""
    paths = Paths(Path(root))
    config = decode(paths.config_file.read_bytes())
    nodes = sorted((node for node in config.nodes.values() if node.uuid != config.cluster.master_node), key=by_address)
    options = server_options(certificate(paths, nodes), paths.authority_pem.read_bytes())
    answering = len(nodes) - int(silent)
    reactor: Any = installed
    for number, node in enumerate(nodes):
        kind = NodeDispatch if number < answering else SilentDispatch
        site = NodeSite(kind(one_node(config, node)), lambda transport: True, reactor)
        reactor.listenSSL(NODE_PORT, site, options, interface=node.primary_ip)
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    reactor.run()


def by_address(node: Node) -> list[int]:
    """In the order of their numbers."""
    return [int(part) for part in node.primary_ip.split(".")]


if __name__ == "__main__":
    main(*sys.argv[1:])
