"""A small valid cluster for tests: one group, two nodes, one mirrored instance."""

from typing import Any

import msgspec
from msgspec.structs import replace

from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.config_data import CONFIG_VERSION, ConfigData
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.enums import AdminState, AdminStateSource, AllocPolicy, DiskTemplate, Hypervisor
from ganeti_tx.model.filter_rule import FilterRule
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.network import Network
from ganeti_tx.model.nic import Nic
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.params.ipolicy import PartialPolicy
from ganeti_tx.model.settings.rules import SETTINGS

#: The settings that nobody has changed.
UNCHANGED: dict[str, Any] = {
    setting.name: setting.default for setting in SETTINGS if setting.default is not msgspec.UNSET
}
CLUSTER = Cluster(
    **{
        **UNCHANGED,
        "hvparams": {Hypervisor.KVM: {"acpi": False}},
        "beparams": {"default": {}},
        "nicparams": {"default": {}},
        "ndparams": {},
        "diskparams": {},
        "data_collectors": {},
        "enabled_hypervisors": (Hypervisor.KVM, Hypervisor.FAKE),
        "compression_tools": ("gzip",),
        "default_iallocator": "hail",
        "default_group": "group-uuid",
    },
    serial_no=1,
    uuid="cluster-uuid",
    cluster_name="cluster.example.com",
    master_node="node1-uuid",
    master_ip="192.0.2.1",
    master_netdev="eth0",
    highest_used_port=11000,
    tcpudp_port_pool=(),
    rsahostkeypub="",
    candidate_certs={},
)
GROUP = NodeGroup(
    serial_no=1,
    uuid="group-uuid",
    name="default",
    alloc_policy=AllocPolicy.PREFERRED,
    ndparams={},
    ipolicy=PartialPolicy(),
    diskparams={},
    networks={"net-uuid": {"mode": "bridged"}},
)
NODE = Node(
    serial_no=1,
    uuid="node1-uuid",
    name="node1.example.com",
    primary_ip="192.0.2.11",
    secondary_ip="192.0.2.11",
    group="group-uuid",
    master_candidate=True,
    offline=False,
    drained=False,
    master_capable=True,
    vm_capable=True,
    powered=True,
    ndparams={},
)
NODE2 = replace(NODE, uuid="node2-uuid", name="node2.example.com", primary_ip="192.0.2.12", secondary_ip="192.0.2.12")
NIC = Nic(uuid="nic-uuid", mac="aa:00:00:00:00:01", nicparams={})
INSTANCE = Instance(
    serial_no=1,
    uuid="inst-uuid",
    name="web1.example.com",
    primary_node="node1-uuid",
    os="debian+default",
    hypervisor=Hypervisor.KVM,
    admin_state=AdminState.UP,
    admin_state_source=AdminStateSource.ADMIN,
    disks_active=True,
    osparams_private={"password": "s3cret"},
    nics=(NIC,),
    disks=("disk-uuid",),
)
VOLUME = Disk(serial_no=1, uuid="data-uuid", dev_type=DiskTemplate.PLAIN, logical_id=("xenvg", "web1.data"), size=1024)
META = replace(VOLUME, uuid="meta-uuid", logical_id=("xenvg", "web1.meta"), size=128)
DISK = Disk(
    serial_no=1,
    uuid="disk-uuid",
    dev_type=DiskTemplate.DRBD,
    logical_id=("node1-uuid", "node2-uuid", 11000, 0, 1, "drbd-s3cret"),
    size=1024,
    children=(VOLUME, META),
    iv_name="disk/0",
    nodes=("node1-uuid", "node2-uuid"),
)
NETWORK = Network(serial_no=1, uuid="net-uuid", name="lan", network="192.0.2.0/28", reservations="1000000000000001")
FILTER = FilterRule(
    uuid="rule-uuid",
    watermark=3,
    priority=0,
    predicates=(("jobid", [">", "id", "watermark"]),),
    action=("RATE_LIMIT", 2),
    reason_trail=(("user", "calm down", 1),),
)
CONFIG = ConfigData(
    serial_no=1,
    version=CONFIG_VERSION,
    cluster=CLUSTER,
    nodes={NODE.uuid: NODE, NODE2.uuid: NODE2},
    nodegroups={GROUP.uuid: GROUP},
    instances={INSTANCE.uuid: INSTANCE},
    networks={NETWORK.uuid: NETWORK},
    disks={DISK.uuid: DISK},
    filters={FILTER.uuid: FILTER},
)
