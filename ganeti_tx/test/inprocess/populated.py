"""A cluster with something of every kind, and with nodes that are away in every way."""

from typing import Any

from msgspec.structs import replace

from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.disk import MAX_DISKS, Disk
from ganeti_tx.model.enums import AdminState, AdminStateSource, DiskTemplate, Hypervisor
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.network import Network
from ganeti_tx.model.nic import Nic
from ganeti_tx.query.fields_instance_nics import MAX_NICS
from ganeti_tx.test.fakes.mirror_wire import MirrorWire
from ganeti_tx.test.inprocess.case import ClusterCase, delay
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.mirrors import UnitsWithMirrors
from ganeti_tx.test.inprocess.simulation import BEGINNING, SimulatedTime

#: Nodes by what is wrong with them; the first three are well.
OFFLINE, NOT_VM_CAPABLE, DRAINED, SILENT = 4, 5, 6, 7
CHANGES: dict[int, dict[str, Any]] = {
    2: {
        "ndparams": {"oob_program": "/etc/oob"},
        "hv_state_static": {"fake": {"mem_node": 1}},
        "disk_state_static": {"lvm": {"xenvg": {"disk_reserved": 1}}},
        "tags": ("rack",),
    },
    OFFLINE: {"offline": True, "master_candidate": False},
    NOT_VM_CAPABLE: {"vm_capable": False},
    DRAINED: {"drained": True, "master_candidate": False},
}
TIMES: dict[str, Any] = {"ctime": BEGINNING, "mtime": BEGINNING}
OPTIONS = "--no-name-check --no-ip-check"
#: What is made by commands; ends with jobs in every state that lasts, except those that did it, and locks.
LINES = (
    "gnt-network add --network=10.5.0.0/28 --gateway=10.5.0.1 --mac-prefix=aa:00:55 --network6=2001:db8:5::/64"
    " --gateway6=2001:db8:5::1 --add-reserved-ips=10.5.0.5 --tags=nt net1",
    "gnt-network connect -N mode=bridged,link=xen-br0 net1 default",
    f"gnt-instance add -t drbd -s 1G -o noop --ignore-ipolicy -n node2:node3 --net 0:network=net1,ip=pool {OPTIONS} web1",
    f"gnt-instance add -t file -s 1G -o noop --no-start -n node3 --tags=red {OPTIONS} web2",
    f"gnt-instance add -t file -s 1G -o noop -n node3 {OPTIONS} web3",
    f"gnt-instance add --forthcoming -t file -s 1G -o noop -n node2 {OPTIONS} web4",
    "gnt-cluster watcher pause 1h",
    'gnt-filter add --action=PAUSE --reason=later --predicates=[["opcode",["==","OP_ID","OP_TAGS_SET"]]]',
)


def hypervisor_instance(hypervisor: Hypervisor, node: str) -> Instance:
    """One that is only reserved, so that no node needs its hypervisor."""
    return Instance(
        uuid=f"{hypervisor.value}-uuid",
        serial_no=1,
        **TIMES,
        name=f"{hypervisor.value}.example.com",
        primary_node=node,
        os="noop",
        hypervisor=hypervisor,
        admin_state=AdminState.DOWN,
        admin_state_source=AdminStateSource.ADMIN,
        disks_active=False,
        forthcoming=True,
    )


def full_instance(node: str) -> tuple[Instance, list[Disk]]:
    """One with as many disks and NICs as there are fields for."""
    disks = [
        Disk(
            uuid=f"disk{number}-uuid",
            serial_no=1,
            **TIMES,
            dev_type=DiskTemplate.FILE,
            logical_id=("loop", f"/srv/ganeti/file-storage/full/{number}"),
            size=64 + number,
            iv_name=f"disk/{number}",
            nodes=(node,),
            name=f"data{number}",
            spindles=1 + number,
        )
        for number in range(MAX_DISKS)
    ]
    nics = [
        Nic(
            uuid=f"nic{number}-uuid",
            mac=f"aa:00:00:00:01:{number:02x}",
            nicparams={"mode": "bridged", "link": "xen-br0"},
            ip=f"198.51.100.{number}",
            name=f"eth{number}",
            network="lan-uuid",
        )
        for number in range(MAX_NICS)
    ]
    instance = Instance(
        uuid="full-uuid",
        serial_no=1,
        **TIMES,
        name="full.example.com",
        primary_node=node,
        os="noop",
        hypervisor=Hypervisor.FAKE,
        admin_state=AdminState.DOWN,
        admin_state_source=AdminStateSource.USER,
        disks_active=False,
        disks=tuple(disk.uuid for disk in disks),
        nics=tuple(nics),
        osparams={"flavour": "sour"},
        network_port=11900,
        tags=("big",),
    )
    return instance, disks


def run_down(node: str, name: str) -> Instance:
    """One that should run on a node, and of which nothing is there."""
    return Instance(
        uuid=f"{name}-uuid",
        serial_no=1,
        **TIMES,
        name=f"{name}.example.com",
        primary_node=node,
        os="noop",
        hypervisor=Hypervisor.FAKE,
        admin_state=AdminState.UP,
        admin_state_source=AdminStateSource.ADMIN,
        disks_active=True,
    )


def populate(config: ConfigData) -> ConfigData:
    """What no command would make, or only slowly."""
    nodes = {node.uuid: replace(node, **CHANGES.get(number_of(node.name), {})) for node in config.nodes.values()}
    uuids = {number_of(node.name): uuid for uuid, node in nodes.items()}
    full, disks = full_instance(uuids[2])
    instances = [
        full,
        *(hypervisor_instance(each, uuids[3]) for each in Hypervisor if each is not Hypervisor.FAKE),
        run_down(uuids[2], "crashed"),
        run_down(uuids[OFFLINE], "lost"),
        run_down(uuids[SILENT], "unheard"),
    ]
    lan = Network(
        uuid="lan-uuid", serial_no=1, **TIMES, name="lan", network="198.51.100.0/28", reservations="1" * 8 + "0" * 8
    )
    groups = {
        uuid: replace(group, networks={lan.uuid: {"mode": "bridged", "link": "xen-br0", "vlan": ""}}, tags=("g",))
        for uuid, group in config.nodegroups.items()
    }
    templates = (DiskTemplate.DRBD, *config.cluster.enabled_disk_templates)
    policy = replace(config.cluster.ipolicy, disk_templates=templates)
    cluster = replace(
        config.cluster, enabled_disk_templates=templates, volume_group_name="xenvg", tags=("c",), ipolicy=policy
    )
    return replace(
        config,
        cluster=cluster,
        nodes=nodes,
        nodegroups=groups,
        networks={lan.uuid: lan},
        instances={each.uuid: each for each in instances},
        disks={disk.uuid: disk for disk in disks},
    )


def number_of(node: str) -> int:
    """That of a node's name."""
    return int(node.split(".")[0].removeprefix("node"))


class PopulatedCase(ClusterCase):
    """Seven nodes; when the test begins, the last one has fallen silent, and each field has a value somewhere."""

    def new_cluster(self, seed: int = 0) -> InProcessCluster:
        """See `ClusterCase`."""
        time = SimulatedTime()
        cluster = InProcessCluster(
            SILENT,
            seed,
            time=time,
            mirror_wire=MirrorWire(time.seconds, rate=1000.0),
            prepare=populate,
            units_of=lambda node, livelock: UnitsWithMirrors(),
        )
        self.addCleanup(cluster.end)
        return cluster

    def setUp(self) -> None:
        super().setUp()
        put(self.cluster.node(2).disk, self.cluster.paths.export_dir / "web2.example.com/config.ini", b"[export]\n")
        for line in LINES:
            self.ok(line)
        self.jobs = self.make_jobs()
        self.addCleanup(self.cluster.pass_time, 600)  # all that runs ends
        self.cluster.network.fall_silent(self.cluster.node(SILENT).address)

    def make_jobs(self) -> dict[str, int]:
        """One job in each state that lasts, by the state, and an archived one."""
        luxi = self.luxi()
        tags = {"OP_ID": "OP_TAGS_SET", "kind": "cluster", "name": None, "tags": ["later"], "reason": []}
        held = {"on_nodes": [self.cluster.node(3).name], "no_locks": False}
        jobs = {
            "archived": luxi.submit_job([delay(0.1)]),
            "success": luxi.submit_job([delay(0.1)]),
            "error": luxi.submit_job([delay(0.1, on_nodes=["nowhere.example.com"])]),
            "queued": luxi.submit_job([tags]),
            "canceled": luxi.submit_job([tags]),
        }
        self.cluster.pass_time(5)
        luxi.archive_job(jobs["archived"])
        luxi.cancel_job(jobs["canceled"])
        jobs["running"] = luxi.submit_job([delay(60.0, **held)])
        self.cluster.pass_time(2)
        change = {"OP_ID": "OP_NODE_SET_PARAMS", "node_name": self.cluster.node(3).name, "drained": False, "reason": []}
        jobs["waiting"] = luxi.submit_job([change])
        self.cluster.pass_time(2)
        return jobs
