"""What allocators say of web1 on a stage, whose nodes are in two groups."""

import json
from typing import Any

from msgspec.structs import replace

from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.rpc.calls.allocator import IallocatorRunner
from ganeti_tx.rpc.calls.instance import AllInstancesInfo
from ganeti_tx.rpc.calls.node import NodeFacts, NodeInfo, StorageSpace
from ganeti_tx.test.fakes.rpc import FakeNodeRpc
from ganeti_tx.test.logic.stage import CONFIG, FILE_DIR, FILE_DISK, GROUP, INSTANCE, RACK2
from ganeti_tx.test.model.samples import DISK, NODE, NODE2

WEB1 = "web1.example.com"
MEMORY = {"memory_total": 8192, "memory_free": 4096, "memory_dom0": 512, "cpu_total": 4, "cpu_dom0": 0}
FACTS = NodeFacts(boot_id="", storage=[StorageSpace("file", FILE_DIR, 100_000, 90_000)], hypervisors={"kvm": MEMORY})
#: web1 is in a shared file, on the first of two nodes.
SHARED = replace(CONFIG, disks={FILE_DISK.uuid: replace(FILE_DISK, dev_type=DiskTemplate.SHAREDFILE)})
#: The second one is in another group.
SPREAD = replace(
    SHARED,
    nodes={**CONFIG.nodes, NODE2.uuid: replace(CONFIG.nodes[NODE2.uuid], group=RACK2.uuid)},
    nodegroups={
        GROUP.uuid: replace(GROUP, members=(NODE.uuid,)),
        RACK2.uuid: replace(RACK2, members=(NODE2.uuid,)),
    },
)

NODE3 = replace(NODE2, uuid="node3-uuid", name="node3.example.com", primary_ip="192.0.2.13", secondary_ip="192.0.2.13")


def with_node3(**changes: Any) -> ConfigData:
    """web1 is mirrored from the first to the second of three nodes; what is different about the third, in RACK2 or not."""
    node3 = replace(NODE3, master_candidate=False, **changes)
    members = {NODE.uuid, NODE2.uuid, *([NODE3.uuid] if node3.group == GROUP.uuid else [])}
    return replace(
        CONFIG,
        instances={INSTANCE.uuid: replace(INSTANCE, network_port=None)},
        disks={DISK.uuid: DISK},
        nodes={**CONFIG.nodes, NODE3.uuid: node3},
        nodegroups={
            GROUP.uuid: replace(GROUP, members=tuple(sorted(members))),
            RACK2.uuid: replace(RACK2, members=() if node3.group == GROUP.uuid else (NODE3.uuid,)),
        },
    )


MIRRORED = with_node3()


def migration(**changes: Any) -> dict[str, Any]:
    """The opcode that hail answers."""
    return {
        "OP_ID": "OP_INSTANCE_MIGRATE",
        "instance_name": WEB1,
        "target_node": NODE2.name,
        "allow_runtime_changes": False,
        "ignore_ipolicy": False,
        "cleanup": False,
        "allow_failover": True,
        "ignore_hvversions": True,
        **changes,
    }


def moved(where: str, *jobs: list[dict[str, Any]]) -> list[Any]:
    """A result: web1 comes to a group, by these jobs, or by its migration."""
    return [[[WEB1, where, [NODE2.name]]], [], list(jobs) or [[migration()]]]


def say(nodes: FakeNodeRpc, result: object) -> None:
    """Have every allocator answer so, of nodes that are well."""
    nodes.answer(NodeInfo, FACTS)
    nodes.answer(AllInstancesInfo, {})
    nodes.answer(IallocatorRunner, json.dumps({"success": True, "info": "", "result": result}))
