"""The configuration of a cluster of one node."""

import socket
import uuid
from collections.abc import Mapping
from typing import Any, Literal, cast

import attrs
import msgspec

from ganeti_tx.bootstrap.problems import Problems
from ganeti_tx.bootstrap.settings import AVAILABLE_HYPERVISORS, AVAILABLE_TEMPLATES, InitSettings
from ganeti_tx.errors import GanetiError
from ganeti_tx.model.cluster import Cluster, DataCollector
from ganeti_tx.model.config_data import CONFIG_VERSION, ConfigData
from ganeti_tx.model.enums import AllocPolicy, DiskTemplate, Hypervisor
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.params import backend, disk, hypervisor, ipolicy, nic, node
from ganeti_tx.model.params.ipolicy import InstancePolicy, PartialPolicy

FIRST_DRBD_PORT = 11000
MAX_RUNNING_JOBS = 20
MAX_TRACKED_JOBS = 25
COLLECTORS = ("cpu-avg-load", "diskstats", "drbd", "inst-status-xen", "lv", "xen-cpu-avg-load")
COLLECTOR_INTERVAL = 5_000_000  # microseconds


@attrs.frozen
class FirstNode:
    """Who the new cluster's master is."""

    name: str
    primary_ip: str
    secondary_ip: str
    master_ip: str
    client_digest: str


@attrs.frozen
class CheckedParams:
    """The parameters of the settings, each reduced to what differs from the tables."""

    hvparams: Mapping[Hypervisor, Mapping[str, Any]]
    beparams: Mapping[str, Any]
    nicparams: Mapping[str, Any]
    ndparams: Mapping[str, Any]
    diskparams: Mapping[DiskTemplate, Mapping[str, Any]]
    policy: InstancePolicy


def check_params(settings: InitSettings, problems: Problems) -> CheckedParams:
    """Check every parameter against the tables; each fault is a problem with its path."""
    for name in settings.enabled_hypervisors:
        available = ", ".join(AVAILABLE_HYPERVISORS)
        problems.unless(name in AVAILABLE_HYPERVISORS, f"hypervisor {name!r} is not available; available: {available}")
    for name in settings.enabled_disk_templates:
        available = ", ".join(AVAILABLE_TEMPLATES)
        problems.unless(name in AVAILABLE_TEMPLATES, f"disk template {name!r} is not available; available: {available}")
    problems.unless(bool(settings.enabled_hypervisors), "a cluster needs at least one enabled hypervisor")
    problems.unless(bool(settings.enabled_disk_templates), "a cluster needs at least one enabled disk template")
    return CheckedParams(
        hvparams=_hvparams(settings, problems),
        beparams=_checked(problems, backend.check_beparams, settings.beparams),
        nicparams=_checked(problems, nic.check_nicparams, settings.nicparams),
        ndparams=_checked(problems, node.check_ndparams, settings.ndparams),
        diskparams=_checked(problems, disk.check_diskparams, settings.diskparams),
        policy=_policy(settings, problems),
    )


def _checked(problems: Problems, check: Any, given: Mapping[str, Any]) -> Any:
    try:
        return check(given)
    except GanetiError as error:
        problems.add(str(error))
        return {}


def _hvparams(settings: InitSettings, problems: Problems) -> dict[Hypervisor, Mapping[str, Any]]:
    found: dict[Hypervisor, Mapping[str, Any]] = {Hypervisor(name): {} for name in Hypervisor}
    for name, given in settings.hvparams.items():
        if name not in found:
            problems.add(f"hvparams.{name}: no such hypervisor; there are {', '.join(found)}")
            continue
        kind = Hypervisor(name)
        found[kind] = _checked(
            problems, lambda params, kind=kind: hypervisor.check_hvparams(kind, params, for_cluster=True), given
        )
    return found


def _policy(settings: InitSettings, problems: Problems) -> InstancePolicy:
    try:
        return ipolicy.fill(InstancePolicy(), ipolicy.check_ipolicy(settings.ipolicy))
    except GanetiError as error:
        problems.add(str(error))
        return InstancePolicy()


def first_config(settings: InitSettings, params: CheckedParams, first: FirstNode, now: float) -> ConfigData:
    """The configuration, with the default group and the master in it."""
    group_uuid, node_uuid = str(uuid.uuid4()), str(uuid.uuid4())
    master = Node(
        uuid=node_uuid,
        name=first.name,
        primary_ip=first.primary_ip,
        secondary_ip=first.secondary_ip,
        group=group_uuid,
        master_candidate=True,
        offline=False,
        drained=False,
        master_capable=True,
        vm_capable=True,
        powered=True,
        ndparams={},
        serial_no=1,
        ctime=now,
        mtime=now,
    )
    group = NodeGroup(
        uuid=group_uuid,
        name="default",
        alloc_policy=AllocPolicy.PREFERRED,
        ndparams={},
        ipolicy=PartialPolicy(),
        diskparams={},
        networks={},
        members=(node_uuid,),
        serial_no=1,
        ctime=now,
        mtime=now,
    )
    return ConfigData(
        version=CONFIG_VERSION,
        cluster=_cluster(settings, params, first, node_uuid, now),
        nodes={node_uuid: master},
        nodegroups={group_uuid: group},
        instances={},
        networks={},
        disks={},
        filters={},
        serial_no=1,
        ctime=now,
        mtime=now,
    )


def _cluster(settings: InitSettings, params: CheckedParams, first: FirstNode, master_uuid: str, now: float) -> Cluster:
    family = socket.AF_INET6 if settings.primary_ip_version == 6 else socket.AF_INET
    return Cluster(
        uuid=str(uuid.uuid4()),
        cluster_name=settings.cluster_name,
        master_node=master_uuid,
        master_ip=first.master_ip,
        master_netdev=settings.master_netdev or "",
        master_netmask=settings.master_netmask or (128 if settings.primary_ip_version == 6 else 32),
        use_external_mip_script=settings.use_external_mip_script,
        primary_ip_family=cast(Literal[2, 10], int(family)),
        mac_prefix=settings.mac_prefix,
        highest_used_port=FIRST_DRBD_PORT - 1,
        tcpudp_port_pool=(),
        rsahostkeypub="",
        ssh_key_type=cast(Literal["dsa", "rsa", "ecdsa"], settings.ssh_key_type),
        ssh_key_bits=settings.ssh_key_bits,
        candidate_pool_size=settings.candidate_pool_size,
        candidate_certs={master_uuid: first.client_digest},
        modify_etc_hosts=settings.modify_etc_hosts,
        modify_ssh_setup=settings.modify_ssh_setup,
        maintain_node_health=settings.maintain_node_health,
        uid_pool=tuple(settings.uid_pool),
        enabled_hypervisors=tuple(Hypervisor(name) for name in settings.enabled_hypervisors),
        hvparams=params.hvparams,
        os_hvp={},
        beparams={"default": _filled_backend(params)},
        nicparams={"default": _filled_nic(params)},
        ndparams=_filled_node(params),
        ipolicy=params.policy,
        osparams={},
        osparams_private_cluster={},
        hidden_os=(),
        blacklisted_os=(),
        enabled_disk_templates=tuple(DiskTemplate(name) for name in settings.enabled_disk_templates),
        diskparams=params.diskparams,
        file_storage_dir=settings.file_storage_dir,
        shared_file_storage_dir=settings.shared_file_storage_dir,
        gluster_storage_dir=settings.gluster_storage_dir,
        reserved_lvs=(),
        prealloc_wipe_disks=settings.prealloc_wipe_disks,
        default_iallocator=settings.default_iallocator,
        default_iallocator_params=settings.default_iallocator_params,
        max_running_jobs=MAX_RUNNING_JOBS,
        max_tracked_jobs=MAX_TRACKED_JOBS,
        install_image=settings.install_image,
        zeroing_image=settings.zeroing_image,
        compression_tools=tuple(settings.compression_tools),
        instance_communication_network="",
        enabled_user_shutdown=settings.enabled_user_shutdown,
        data_collectors={name: DataCollector(active=True, interval=COLLECTOR_INTERVAL) for name in COLLECTORS},
        hv_state_static=settings.hv_state,
        disk_state_static=settings.disk_state,
        volume_group_name=settings.vg_name,
        drbd_usermode_helper=settings.drbd_usermode_helper,
        serial_no=1,
        ctime=now,
        mtime=now,
    )


def _filled_backend(params: CheckedParams) -> Mapping[str, Any]:
    """Stored in full: other programs read them without the table."""
    return {**msgspec.to_builtins(backend.BackendParams()), **params.beparams}


def _filled_nic(params: CheckedParams) -> Mapping[str, Any]:
    return {**msgspec.to_builtins(nic.NicParams()), **params.nicparams}


def _filled_node(params: CheckedParams) -> Mapping[str, Any]:
    return {**msgspec.to_builtins(node.NodeParams()), **params.ndparams}
